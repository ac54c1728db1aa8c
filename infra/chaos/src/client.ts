import { addressesOf, DEV_SCOPE, DEV_TENANTS } from '@switchhook/dev-idp'
import type { Random } from './random.ts'

const [CLIENT] = DEV_TENANTS
export const TENANT = CLIENT.tenant

/** An answer; status 0: there was none, and nobody knows whether the request was carried out. */
export interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
}

/** A client application, which talks to any of the api replicas. */
export interface Client {
  request(method: string, path: string, body?: object): Promise<Reply>
  /** How many answers there were, by status. */
  readonly answers: ReadonlyMap<number, number>
}

const PATIENCE_MS = 10_000

export async function openClient(apis: () => readonly string[], devIdp: string, random: Random): Promise<Client> {
  const token = await requestToken(devIdp)
  const answers = new Map<number, number>()

  async function request(method: string, path: string, body?: object): Promise<Reply> {
    const [first = '', ...others] = apis()
    try {
      const response = await fetch(`${random.pick([first, ...others])}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Reply['body'] }
    } catch {
      return { status: 0, body: {} }
    }
  }

  return {
    answers,
    request: async (method, path, body) => {
      const reply = await request(method, path, body)
      answers.set(reply.status, (answers.get(reply.status) ?? 0) + 1)
      return reply
    },
  }
}

/** A run takes less than the hour for which a token is good. */
async function requestToken(devIdp: string): Promise<string> {
  const response = await fetch(addressesOf(devIdp, TENANT).tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
      scope: DEV_SCOPE,
    }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}
