import { Pool } from 'undici'

/** JSON requests to one origin over kept connections. */
export interface JsonClient {
  /** @throws unless the response is 2xx */
  get(path: string): Promise<Record<string, unknown>>
  /** @throws unless the response is 2xx */
  post(path: string, body: object): Promise<Record<string, unknown>>
  /** @throws unless the response is 2xx */
  delete(path: string): Promise<void>
  close(): Promise<void>
}

/** The simulator needs no token. A token would only make its requests dearer, and they are not what is measured. */
const needsToken = (path: string): boolean => !path.startsWith('/simulator/')

export function openClient(origin: string, connections: number, token: string | null): JsonClient {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<string> {
    const response = await pool.request({
      method,
      path,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== null && needsToken(path) && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${text}`)
    return text
  }
  return {
    get: async (path) => JSON.parse(await ask('GET', path)) as Record<string, unknown>,
    async post(path, body) {
      const text = await ask('POST', path, body)
      return (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    },
    delete: async (path) => void (await ask('DELETE', path)),
    close: () => pool.close(),
  }
}
