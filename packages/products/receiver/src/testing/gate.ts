/** A promise that the test resolves. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  const resolvers: (() => void)[] = []
  const opened = new Promise<void>((resolve) => resolvers.push(resolve))
  return { opened, open: () => resolvers.forEach((resolve) => resolve()) }
}
