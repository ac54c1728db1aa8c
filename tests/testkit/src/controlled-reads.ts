/** A source whose value a test changes. A read takes the value as it is when the read begins, and ends when the test says so. */
export function controlledReads() {
  const begun: string[] = []
  const endings: ((error?: Error) => void)[] = []
  let value = 0
  return {
    begun,
    write: () => {
      value += 1
    },
    end: (error?: Error) => endings.shift()?.(error),
    read: (key: string): Promise<number> => {
      begun.push(key)
      const taken = value
      return new Promise((resolve, reject) => {
        endings.push((error) => (error === undefined ? resolve(taken) : reject(error)))
      })
    },
  }
}
