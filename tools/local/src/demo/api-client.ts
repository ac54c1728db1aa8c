import type { Screen } from './screen.ts'
import { verify } from './verify.ts'

interface Subscription {
  readonly id: string
  /** Only in the answer to the creation. */
  readonly secret: string
  readonly url: string
  readonly enabled: boolean
}

export interface Delivery {
  readonly deliveryId: string
  readonly state: string
  readonly parkedReason: string | null
  readonly attempts: readonly { readonly attempt: number; readonly status: number | null; readonly outcome: string }[]
}

export interface ApiClient {
  subscribe(url: string, eventTypes: readonly string[]): Promise<Subscription>
  unsubscribe(subscriptionId: string): Promise<void>
  dial(agentUri: string, destination: string): Promise<string>
  hangUp(callId: string, agentUri: string): Promise<void>
  /** Any command on a call. */
  command(callId: string, command: string, body: object): Promise<{ readonly consultationCallId?: string }>
  setPresence(
    agentUri: string,
    body: object,
  ): Promise<{ readonly statusCode: number; readonly pendingStatusCode: number | null }>
  /** Makes an inbound call; only the simulated contact center can do this. */
  ring(agentUri: string, from: string): Promise<string>
  parked(subscriptionId: string): Promise<readonly Delivery[]>
  delivery(deliveryId: string): Promise<Delivery>
  redeliver(deliveryId: string): Promise<void>
}

/** A client that uses the REST API only. Shows each request and its status on the screen. */
export function createApiClient(baseUrl: string, token: string, screen: Screen): ApiClient {
  async function call(method: string, path: string, expected: number, body?: object): Promise<Answer> {
    const response = await fetch(`${baseUrl}${path.startsWith('/simulator') ? '' : '/api/v1'}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    verify(
      response.status === expected,
      `${method} ${path} answers ${expected} (it answered ${response.status}: ${text})`,
    )
    return {
      status: response.status,
      location: response.headers.get('location'),
      body: (text === '' ? undefined : JSON.parse(text)) as unknown,
    }
  }

  return {
    subscribe: (url, eventTypes) =>
      screen.request('POST /api/v1/webhooks/subscriptions', async () => {
        const { status, location, body } = await call('POST', '/webhooks/subscriptions', 201, { url, eventTypes })
        const value = body as Subscription
        verify(
          location?.endsWith(`/webhooks/subscriptions/${value.id}`) === true,
          'Location points to the subscription',
        )
        return { status, detail: `${eventTypes.join(', ')} → ${url}`, value }
      }),
    unsubscribe: (subscriptionId) =>
      screen.request('DELETE /api/v1/webhooks/subscriptions/{id}', async () => {
        const { status } = await call('DELETE', `/webhooks/subscriptions/${subscriptionId}`, 204)
        return { status, detail: 'new deliveries stop', value: undefined }
      }),
    dial: (agentUri, destination) =>
      screen.request('POST /api/v1/voice/calls/dial', async () => {
        const { status, body } = await call('POST', '/voice/calls/dial', 202, { agentUri, destination })
        const { callId } = body as { callId: string }
        return { status, detail: `${agentUri} dials ${destination}: call ${callId}`, value: callId }
      }),
    hangUp: (callId, agentUri) =>
      screen.request('POST /api/v1/voice/calls/{callId}/hangup', async () => {
        const { status } = await call('POST', `/voice/calls/${callId}/hangup`, 202, { agentUri })
        return { status, detail: `${agentUri} hangs up`, value: undefined }
      }),
    command: (callId, command, given) =>
      screen.request(`POST /api/v1/voice/calls/{callId}/${command}`, async () => {
        const { status, body } = await call('POST', `/voice/calls/${callId}/${command}`, 202, given)
        return {
          status,
          detail: Object.values(given).join(' → '),
          value: body as { readonly consultationCallId?: string },
        }
      }),
    setPresence: (agentUri, given) =>
      screen.request('POST /api/v1/voice/agents/{agentUri}/presence', async () => {
        const { status, body } = await call(
          'POST',
          `/voice/agents/${encodeURIComponent(agentUri)}/presence`,
          202,
          given,
        )
        const value = body as { readonly statusCode: number; readonly pendingStatusCode: number | null }
        return { status, detail: `${agentUri}: ${JSON.stringify(given)}`, value }
      }),
    ring: (agentUri, from) =>
      screen.request('POST /simulator/v1/calls', async () => {
        const { status, body } = await call('POST', '/simulator/v1/calls', 202, { agentUri, from })
        return { status, detail: `${from} calls ${agentUri}`, value: (body as { callId: string }).callId }
      }),
    parked: async (subscriptionId) => {
      const { body } = await call('GET', `/webhooks/subscriptions/${subscriptionId}/deliveries?state=parked`, 200)
      return (body as { items: readonly Delivery[] }).items
    },
    delivery: async (deliveryId) => (await call('GET', `/webhooks/deliveries/${deliveryId}`, 200)).body as Delivery,
    redeliver: (deliveryId) =>
      screen.request('POST /api/v1/webhooks/deliveries/{id}/redeliver', async () => {
        const { status } = await call('POST', `/webhooks/deliveries/${deliveryId}/redeliver`, 202)
        return { status, detail: 'sent again, with the same id and body', value: undefined }
      }),
  }
}

interface Answer {
  readonly status: number
  readonly location: string | null
  readonly body: unknown
}

/** The client credentials flow (specification, Authentication, 3 and 4). */
export async function requestToken(
  tokenUrl: string,
  client: { readonly clientId: string; readonly clientSecret: string; readonly scope: string },
): Promise<{ readonly accessToken: string; readonly expiresInS: number }> {
  const response = await fetch(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: client.clientSecret,
      scope: client.scope,
    }),
  })
  const body = (await response.json()) as { access_token?: string; token_type?: string; expires_in?: number }
  verify(response.status === 200 && body.token_type === 'Bearer', `${tokenUrl} issues a bearer token`)
  return { accessToken: body.access_token ?? '', expiresInS: body.expires_in ?? 0 }
}
