import { Pool } from 'undici'

/** One origin, with so many connections that are kept. */
export interface JsonClient {
  /** @throws for any answer but one of 2xx */
  post(path: string, body: object): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export function openClient(origin: string, connections: number, token: string | null): JsonClient {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  return {
    async post(path, body) {
      const response = await pool.request({
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          ...(token !== null && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify(body),
      })
      const text = await response.body.text()
      if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`)
      return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    },
    close: () => pool.close(),
  }
}
