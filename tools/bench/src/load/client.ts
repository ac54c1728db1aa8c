import { Pool } from 'undici'

type Json = Readonly<Record<string, unknown>>
export type JsonClient = ReturnType<typeof openClient>

/** The simulator needs no token. A token would only make its requests dearer, and they are not what is measured. */
const needsToken = (path: string): boolean => !path.startsWith('/simulator/')

/** JSON requests to one origin over kept connections. Each throws unless the response is 2xx. */
export function openClient(origin: string, connections: number, token: string | null) {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Json> {
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
    return (text === '' ? {} : JSON.parse(text)) as Json
  }
  return {
    get: (path: string): Promise<Json> => ask('GET', path),
    post: (path: string, body: object): Promise<Json> => ask('POST', path, body),
    delete: (path: string): Promise<Json> => ask('DELETE', path),
    close: (): Promise<void> => pool.close(),
  }
}
