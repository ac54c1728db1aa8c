export type Say = (line: string) => void

/** Reports work that takes longer than a second, and then every ten seconds that it is still running. */
export async function withProgress<T>(say: Say, what: string, work: Promise<T>): Promise<T> {
  const began = performance.now()
  const seconds = (): string => `${Math.round((performance.now() - began) / 1_000)} s`
  let repeat: NodeJS.Timeout | undefined
  const first = setTimeout(() => {
    say(`… ${what}`)
    repeat = setInterval(() => say(`… ${what} (${seconds()})`), 10_000)
  }, 1_000)
  try {
    return await work
  } finally {
    clearTimeout(first)
    clearInterval(repeat)
  }
}
