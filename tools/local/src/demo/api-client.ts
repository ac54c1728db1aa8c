import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '@switchhook/test-servers'
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

interface Presence {
  readonly statusCode: number
  readonly pendingStatusCode: number | null
}

const SWITCHHOOK = join(repository, 'packages/cli/bin/switchhook.js')

export type ApiClient = ReturnType<typeof createApiClient>

/** A client that uses the REST API only. Shows each request that changes something, and its status, on the screen. */
export function createApiClient(baseUrl: string, token: string, screen: Screen) {
  /** @param request method and path, with the names of `ids` in braces */
  async function call(request: string, ids: Readonly<Record<string, string>>, expected: number, body?: object) {
    const [method = '', pattern = ''] = request.split(' ')
    const path = pattern.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(ids[name] ?? ''))
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    verify(
      response.status === expected,
      `${method} ${path} answers ${expected} (it answered ${response.status}: ${text})`,
    )
    const value: unknown = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, location: response.headers.get('location'), value }
  }

  const shown = <T = void>(
    request: string,
    ids: Readonly<Record<string, string>>,
    expected: number,
    body: object | undefined,
    describe: (value: T) => string,
  ): Promise<T> =>
    screen.request(request, async () => {
      const { status, location, value } = await call(request, ids, expected, body)
      const isCreated = status !== 201 || location?.endsWith(`/${(value as Subscription).id}`) === true
      verify(isCreated, 'Location points to the subscription')
      return { status, detail: describe(value as T), value: value as T }
    })

  const command = (callId: string, name: string, given: object) =>
    shown<{ readonly consultationCallId?: string }>(
      `POST /api/v1/voice/calls/{callId}/${name}`,
      { callId },
      202,
      given,
      () => Object.values(given).join(' → '),
    )

  return {
    /** Any command on a call. */
    command,
    hangUp: (callId: string, agentUri: string) => command(callId, 'hangup', { agentUri }),
    subscribe: (url: string, eventTypes: readonly string[]) =>
      shown<Subscription>(
        'POST /api/v1/webhooks/subscriptions',
        {},
        201,
        { url, eventTypes },
        () => `${eventTypes.join(', ')} → ${url}`,
      ),
    unsubscribe: (id: string) =>
      shown('DELETE /api/v1/webhooks/subscriptions/{id}', { id }, 204, undefined, () => 'new deliveries stop'),
    dial: async (agentUri: string, destination: string) => {
      const { callId } = await shown<{ readonly callId: string }>(
        'POST /api/v1/voice/calls/dial',
        {},
        202,
        { agentUri, destination },
        (made) => `${agentUri} dials ${destination}: call ${made.callId}`,
      )
      return callId
    },
    setPresence: (agentUri: string, given: object) =>
      shown<Presence>(
        'POST /api/v1/voice/agents/{agentUri}/presence',
        { agentUri },
        202,
        given,
        () => `${agentUri}: ${JSON.stringify(given)}`,
      ),
    /** Makes an inbound call; only the simulated contact center can do this. */
    ring: async (agentUri: string, from: string) => {
      const request = 'POST /simulator/v1/calls'
      const describe = (): string => `${from} calls ${agentUri}`
      return (await shown<{ readonly callId: string }>(request, {}, 202, { agentUri, from }, describe)).callId
    },
    redeliver: (id: string) =>
      shown(
        'POST /api/v1/webhooks/deliveries/{id}/redeliver',
        { id },
        202,
        undefined,
        () => 'sent again, with the same id and body',
      ),
    parked: async (id: string) => {
      const request = 'GET /api/v1/webhooks/subscriptions/{id}/deliveries?state=parked'
      return ((await call(request, { id }, 200)).value as { readonly items: readonly Delivery[] }).items
    },
    /** The lines that the command line prints. */
    commandLine: async (...args: readonly string[]): Promise<readonly string[]> => {
      const env = { ...process.env, SWITCHHOOK_URL: baseUrl, SWITCHHOOK_TOKEN: token }
      const { stdout } = await promisify(execFile)(process.execPath, [SWITCHHOOK, ...args], { env })
      return stdout.trimEnd().split('\n')
    },
    delivery: async (id: string) => (await call('GET /api/v1/webhooks/deliveries/{id}', { id }, 200)).value as Delivery,
  }
}
