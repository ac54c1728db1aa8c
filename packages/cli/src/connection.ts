/** The `fetch` of the command, which notes the server's clock. */
export interface Connection {
  readonly fetch: typeof fetch
  /** How far this machine's clock is ahead of the server's, to a second; undefined without an answer. */
  clockOffsetMs(): number | undefined
}

export function openConnection(): Connection {
  let offsetMs: number | undefined
  return {
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      const date = Date.parse(response.headers.get('date') ?? '')
      // `Date` has whole seconds.
      if (!Number.isNaN(date)) offsetMs = Date.now() - date - 500
      return response
    },
    clockOffsetMs: () => offsetMs,
  }
}
