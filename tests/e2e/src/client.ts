import { randomUUID } from 'node:crypto'
import { readStack } from './stack.ts'

/** An answer of the api. The types are declared here, because they state what clients can rely on. */
interface Reply<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

export interface Subscription {
  readonly id: string
  readonly url: string
  readonly eventTypes: readonly string[]
  readonly description: string | null
  readonly enabled: boolean
  readonly createdAt: string
}

export interface Delivery {
  readonly deliveryId: string
  readonly state: string
  readonly parkedReason: string | null
  readonly envelope: Envelope | null
  readonly attempts: readonly {
    readonly attempt: number
    readonly outcome: string
    readonly status: number | null
    readonly durationMs: number
    readonly at: string
  }[]
}

interface Envelope {
  readonly deliveryId: string
  readonly eventType: string
  readonly occurredAt: string
  readonly tenant: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The webhook in a received request. */
export function envelopeOf(request: { readonly body: Buffer } | undefined): Envelope {
  if (request === undefined) throw new Error('there is no such request')
  return JSON.parse(request.body.toString()) as Envelope
}

export interface Client {
  request<T>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply<T>>
  /** Begins a response that does not end, such as the live stream. */
  open(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  subscribe(url: string, eventTypes?: readonly string[]): Promise<Subscription>
  /** Returns the call id. */
  dial(agentUri: string, destination: string, more?: object): Promise<string>
}

const CLIENTS = { acme: 'acme-app:acme-secret', globex: 'globex-app:globex-secret' }

/** Gets a token with the client credentials flow of the specification. */
async function requestToken(tenant: keyof typeof CLIENTS): Promise<string> {
  const [client_id = '', client_secret = ''] = CLIENTS[tenant].split(':')
  const response = await fetch(`${readStack().urls.devIdp}/${tenant}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id,
      client_secret,
      scope: 'switchhook/.default',
    }),
  })
  const { access_token } = (await response.json()) as { access_token: string }
  return access_token
}

/** A client application of a tenant that uses one api replica. */
export async function openClient(tenant: keyof typeof CLIENTS, replica: 0 | 1 = 0): Promise<Client> {
  const token = await requestToken(tenant)
  const base = readStack().urls.apis[replica]

  async function request<T>(method: string, path: string, body?: unknown, headers = {}): Promise<Reply<T>> {
    const response = await fetch(`${base}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    }
  }

  async function expecting<T>(status: number, method: string, path: string, body: unknown): Promise<T> {
    const reply = await request<T>(method, path, body)
    if (reply.status !== status) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }

  return {
    request,
    open: (path, headers = {}) =>
      fetch(`${base}/api/v1${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
    subscribe: (url, eventTypes = ['call.status']) =>
      expecting(201, 'POST', '/webhooks/subscriptions', { url, eventTypes }),
    dial: async (agentUri, destination, more = {}) => {
      const { callId } = await expecting<{ callId: string }>(202, 'POST', '/voice/calls/dial', {
        agentUri,
        destination,
        ...more,
      })
      return callId
    },
  }
}

/** Publishes an event to `switchhook.events`, as any platform can. Resolves once the broker has confirmed it. */
export async function publish(routingKey: string, payload: string): Promise<void> {
  await management('POST', '/exchanges/%2F/switchhook.events/publish', {
    routing_key: routingKey,
    payload,
    payload_encoding: 'string',
    properties: { delivery_mode: 2, content_type: 'application/json', type: routingKey },
  })
}

/** Publishes an event with the given data. Returns the marker that identifies its deliveries. */
export async function publishEvent(
  event: {
    readonly tenant?: string | null
    readonly eventType?: string
    readonly eventId?: string
    readonly occurredAt?: string
  } = {},
): Promise<string> {
  const marker = randomUUID()
  const {
    tenant = 'acme',
    eventType = 'call.status',
    eventId = randomUUID(),
    occurredAt = new Date().toISOString(),
  } = event
  await publish(eventType, JSON.stringify({ eventId, eventType, occurredAt, tenant, data: { marker } }))
  return marker
}

async function management(method: string, path: string, body?: object): Promise<unknown> {
  const url = readStack().urls.rabbitmqManagement
  if (url === null) throw new Error('these tests need a broker with its management API')
  const { origin, username, password } = new URL(url)
  const response = await fetch(`${origin}/api${path}`, {
    method,
    headers: {
      authorization: `Basic ${btoa(`${username || 'guest'}:${password || 'guest'}`)}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`broker: ${method} ${path} answered ${response.status}`)
  return response.json()
}
