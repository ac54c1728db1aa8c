/** Runs work of the same key one after the other, and of different keys side by side. */
export function createInOrder(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const run = (last.get(key) ?? Promise.resolve()).then(work)
    const ended = run
      .catch(() => undefined)
      .finally(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return run
  }
}
