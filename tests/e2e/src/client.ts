import { randomUUID } from 'node:crypto'
import {
  type Client as ApiClient,
  clientCredentials,
  createClient,
  type Schemas,
  SwitchhookError,
} from '@switchhook/client'
import { openManagement, type ReceivedRequest } from '@switchhook/testkit'
import { readStack } from './stack.ts'

/** An answer of the api. */
interface Reply<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

export type Subscription = Schemas['Subscription']
export type Delivery = Schemas['Delivery']

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

/**
 * The requests that were signed after a moment, in ms since 1970. Signatures name the second. When a request was read does not
 * tell: a busy receiver reads what was sent before.
 */
export const signedAfter = (ms: number, requests: readonly ReceivedRequest[]): readonly ReceivedRequest[] =>
  requests.filter(({ headers }) => Number(headers['webhook-timestamp']) > Math.floor(ms / 1_000))

export interface Client {
  /** The product's own client: how an application speaks to the api. */
  readonly api: ApiClient
  /** Sends anything, for bad input and for what the product's client hides, such as a status or a header. */
  request<T>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply<T>>
  /** Begins a response that does not end, such as the live stream. */
  open(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  subscribe(url: string, eventTypes?: readonly string[]): Promise<Subscription>
  /** Deletes a subscription, unless a test has done so. */
  unsubscribe(id: string): Promise<void>
  /** Returns the call id. */
  dial(agentUri: string, destination: string, more?: object): Promise<string>
}

const CLIENTS = { acme: 'acme-app:acme-secret', globex: 'globex-app:globex-secret' }

/** A client application of a tenant that uses one api replica. */
export async function openClient(tenant: keyof typeof CLIENTS, replica: 0 | 1 = 0): Promise<Client> {
  const { apis, devIdp } = readStack().urls
  const [clientId = '', clientSecret = ''] = CLIENTS[tenant].split(':')
  const tokenUrl = `${devIdp}/${tenant}/oauth2/v2.0/token`
  const auth = clientCredentials({ tokenUrl, clientId, clientSecret, scope: 'switchhook/.default' })
  const token = await auth()
  const base = apis[replica]
  // A busy machine may take longer than the ten seconds that a call has otherwise.
  const api = createClient({ baseUrl: base, auth, timeoutMs: 30_000 })

  return {
    api,
    async request<T>(method: string, path: string, body?: unknown, headers = {}): Promise<Reply<T>> {
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
      const { status } = response
      return { status, headers: response.headers, body: (text === '' ? undefined : JSON.parse(text)) as T }
    },
    open: (path, headers = {}) =>
      fetch(`${base}/api/v1${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
    subscribe: (url, eventTypes = ['call.status']) =>
      api.subscriptions.create({ url, eventTypes: eventTypes as Schemas['SubscribedType'][] }),
    unsubscribe: (id) =>
      api.subscriptions.delete(id).catch((error: unknown) => {
        if (!(error instanceof SwitchhookError && error.code === 'subscription-not-found')) throw error
      }),
    dial: async (agentUri, destination, more = {}) => {
      const { callId } = await api.calls.dial({ agentUri, destination, ...more })
      return callId
    },
  }
}

/** Publishes an event to `switchhook.events`, as any platform can. Resolves once the broker has confirmed it. */
export async function publish(routingKey: string, payload: string): Promise<void> {
  const url = readStack().urls.rabbitmqManagement
  if (url === null) throw new Error('these tests need a broker with its management API')
  await openManagement(url, '/').call('POST', 'exchanges/%2F/switchhook.events/publish', {
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
