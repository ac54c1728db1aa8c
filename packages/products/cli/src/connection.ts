export type Connection = ReturnType<typeof openConnection>

/** The `fetch` of the command, which notes the server's clock. */
export function openConnection() {
  let offsetMs: number | undefined
  return {
    fetch: async (...request: Parameters<typeof fetch>): Promise<Response> => {
      const response = await fetch(...request)
      const date = Date.parse(response.headers.get('date') ?? '')
      // `Date` has whole seconds.
      if (!Number.isNaN(date)) offsetMs = Date.now() - date - 500
      return response
    },
    /** How far this machine's clock is ahead of the server's, to a second; undefined without an answer. */
    clockOffsetMs: (): number | undefined => offsetMs,
  }
}
