import { Pool } from 'undici'
import type { Bench } from '../bench.ts'
import type { EventType } from './events.ts'

type Json = Readonly<Record<string, unknown>>
export type JsonClient = ReturnType<typeof openClient>

/** Requests that create or delete subscriptions. */
const AT_ONCE = 8

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

/** The same to the api, until the part is over. */
export async function openApi(
  { stack, defer, tokenOf }: Bench,
  connections: number,
  tenant?: string,
): Promise<JsonClient> {
  const api = openClient(stack.urls.apis[0] ?? '', connections, await tokenOf(tenant))
  defer(() => api.close())
  return api
}

interface SubscriptionOptions {
  readonly tenant?: string
  readonly eventType?: EventType
  readonly [furtherField: string]: unknown
}

/**
 * Creates a subscription for each url, until the part is over.
 * @param settingsOf further settings of the nth
 */
export async function subscribe(
  part: Bench,
  urls: readonly string[],
  { tenant, eventType = 'call.status', ...settings }: SubscriptionOptions = {},
  settingsOf: (n: number) => object = () => ({}),
): Promise<void> {
  const api = await openApi(part, AT_ONCE, tenant)
  const created = await Promise.all(
    urls.map((url, n) =>
      api.post('/api/v1/webhooks/subscriptions', { url, eventTypes: [eventType], ...settings, ...settingsOf(n) }),
    ),
  )
  part.defer(() => Promise.all(created.map(({ id }) => api.delete(`/api/v1/webhooks/subscriptions/${String(id)}`))))
}
