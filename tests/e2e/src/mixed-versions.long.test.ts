import { randomUUID } from 'node:crypto'
import { buildVersion, type Fleet, previousVersion, type RunningFleet, startFleet } from '@switchhook/local'
import {
  type Answer,
  eventually,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
  temporaryFolder,
} from '@switchhook/testkit'
import { Webhook } from 'standardwebhooks'
import { envelopeOf } from './client.ts'

const OLD = ['old'] as const
const NEW = ['new'] as const
const BOTH = ['old', 'new'] as const

/**
 * A rolling update in the order of docs/upgrades.md (the api last), and back, again with the api last. The way back runs
 * a new api next to old workers, as an update in the wrong order would. In each phase, two versions run side by side.
 */
const PHASES: readonly (readonly [string, Fleet])[] = [
  ['the old version alone', { api: OLD, fanout: OLD, 'delivery-worker': OLD }],
  ['old and new workers', { api: OLD, fanout: OLD, 'delivery-worker': BOTH }],
  ['new workers, old and new fan-out', { api: OLD, fanout: BOTH, 'delivery-worker': NEW }],
  ['an old api alone', { api: OLD, fanout: NEW, 'delivery-worker': NEW }],
  ['old and new apis', { api: BOTH, fanout: NEW, 'delivery-worker': NEW }],
  ['the new version alone', { api: NEW, fanout: NEW, 'delivery-worker': NEW }],
  ['new and old workers', { api: NEW, fanout: NEW, 'delivery-worker': BOTH }],
  ['old workers, new and old fan-out', { api: NEW, fanout: BOTH, 'delivery-worker': OLD }],
  ['a new api alone', { api: NEW, fanout: OLD, 'delivery-worker': OLD }],
  ['new and old apis', { api: BOTH, fanout: OLD, 'delivery-worker': OLD }],
  ['the old version alone again', { api: OLD, fanout: OLD, 'delivery-worker': OLD }],
]

const SETTINGS = {
  // Many short waits, so that a delivery can fail during several phases and is due soon after its endpoint works.
  DELIVERY_RETRY_WAITS: ['200ms', ...Array.from({ length: 120 }, () => '1s')].join(','),
  DELIVERY_TIMEOUT: '3s',
  SHUTDOWN_GRACE: '8s',
  BREAKER_FAILURES: '1000',
  BREAKER_COOLDOWN: '1s',
  WRAP_UP_SECONDS: '0',
  RATE_LIMIT: '999999999/1m',
  LOG_LEVEL: 'info',
  SIMULATOR_AGENTS: JSON.stringify(
    // One for each api that runs at the same time. All phases share them, so each version reads what the other has stored.
    [0, 1].map((n) => ({ agentUri: `sip:mixed-${n}@acme.example`, tenant: 'acme', device: `SIM/mixed-${n}` })),
  ),
}

/** Enough events per phase for every consuming process to get some. */
const EVENTS_PER_PHASE = 8
/** The broker distributes checks round-robin, so each of two workers gets one. */
const CHECKS_PER_PHASE = 2
const PHASE_MS = 40_000
const waiting = { timeoutMs: PHASE_MS }

const previous = previousVersion()
if (previous === undefined) process.stderr.write('NOT TESTED: two versions side by side (this is no clone)\n')

/** No event of the load has this device. */
const REFUSES_ALL = { 'call.status': { device: ['none'] } }

interface Subscription {
  readonly id: string
  readonly secret: string
  readonly path: string
}

interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
}

;(previous === undefined ? describe.skip : describe)('two versions side by side', () => {
  let fleet: RunningFleet
  let receiver: Receiver
  let token: string
  const subscriptions = new Map<string, Subscription>()
  /** Markers of the events that each endpoint still rejects. */
  const failing = new Set<string>()
  const rejecting = new Set<string>()
  const serverErrors: string[] = []
  /** Markers of each phase whose deliveries to `carry` fail until two phases later. */
  const carried: string[][] = []
  /** The phases build on each other, so a failure skips the rest. */
  let passed = 0

  const markerOf = (request: ReceivedRequest): string => String(envelopeOf(request).data['marker'])

  /** `/retry` fails each delivery once, `/reject` and `/carry` reject selected events, and all reject an invalid signature. */
  function answer(request: ReceivedRequest): Answer {
    const subscription = subscriptions.get(request.path)
    if (subscription === undefined || !isSigned(request, subscription.secret)) return { status: 401 }
    if (request.path === '/retry' && Number(request.headers['x-svc-attempt']) === 1) return { status: 503 }
    if (request.path === '/reject' && rejecting.has(markerOf(request))) return { status: 400 }
    if (request.path === '/carry' && failing.has(markerOf(request))) return { status: 503 }
    return { status: 204 }
  }

  async function call(api: string, method: string, path: string, body?: object): Promise<Reply> {
    const response = await fetch(`${api}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const said = await response.text()
    if (response.status >= 500) serverErrors.push(`${method} ${path}: ${response.status} ${said}`)
    return { status: response.status, body: (said === '' ? {} : JSON.parse(said)) as Reply['body'] }
  }

  async function subscribe(api: string, path: string, settings: object = {}): Promise<Subscription> {
    const { status, body } = await call(api, 'POST', '/webhooks/subscriptions', {
      url: receiver.url(path),
      eventTypes: ['call.status'],
      ...settings,
    })
    expect(status).toBe(201)
    const subscription = { id: String(body['id']), secret: String(body['secret']), path }
    subscriptions.set(path, subscription)
    return subscription
  }

  const subscriptionAt = (path: string): Subscription => {
    const subscription = subscriptions.get(path)
    if (subscription === undefined) throw new Error(`nothing is subscribed at ${path}`)
    return subscription
  }

  /** The attempts of the delivery with this marker at this endpoint, in order of arrival. */
  const attemptsOf = (path: string, marker: string): readonly number[] =>
    receiver
      .requests(path)
      .filter((request) => markerOf(request) === marker)
      .map(({ headers }) => Number(headers['x-svc-attempt']))

  beforeAll(async () => {
    const folder = await buildVersion(previous ?? '')
    receiver = await startReceiver(answer)
    fleet = await startFleet(temporaryFolder('switchhook-mixed-'), folder, SETTINGS)
    token = await requestToken(fleet.devIdp)
  }, 300_000)

  afterAll(async () => {
    await fleet.stop()
    await receiver.close()
  })

  test.each(PHASES.map(([name, phase], at) => [name, phase, at] as const))(
    '%s: commands work, and every delivery arrives',
    async (_name, phase, at) => {
      if (passed < at) throw new Error('an earlier phase has failed')
      await fleet.become(phase)
      const apis = fleet.apis().map(({ url }) => url)
      const [first = ''] = apis
      const last = apis.at(-1) ?? first
      if (at === PHASES.findIndex(([name]) => name === 'the new version alone'))
        await subscribe(first, '/filtered', { filter: REFUSES_ALL })
      if (at === 0) for (const path of ['/steady', '/retry', '/reject', '/carry']) await subscribe(first, path)

      const markers = Array.from({ length: EVENTS_PER_PHASE }, () => randomUUID())
      const [rejected = ''] = markers
      rejecting.add(rejected)
      for (const marker of markers) failing.add(marker)
      carried.push(markers)
      for (const marker of carried[at - 2] ?? []) failing.delete(marker)
      for (const marker of markers) await publishEvent(fleet.managementUrl, marker)

      await Promise.all(
        apis.flatMap((api, n) => [commandsWork(api, last, n), subscriptionsWork(api, `/phase-${at}-${n}`)]),
      )

      await eventually(() => {
        for (const marker of markers) {
          expect(attemptsOf('/steady', marker)).toContain(1)
          expect(attemptsOf('/retry', marker)).toEqual(expect.arrayContaining([1, 2]))
          expect(attemptsOf('/carry', marker)).toContain(1)
        }
        // Published two phases ago, possibly by a version that no longer runs.
        for (const marker of carried[at - 2] ?? []) expect(isAcknowledged('/carry', marker)).toBe(true)
      }, waiting)

      await parkedIsSentAgain(last, rejected)
      expect(serverErrors).toEqual([])
      passed += 1
    },
    PHASE_MS * 2,
  )

  test(
    'what was waiting arrives, no queue holds a message, and nothing is in quarantine',
    async () => {
      failing.clear()
      const [{ url: api } = { url: '' }] = fleet.apis()
      await call(api, 'DELETE', `/webhooks/subscriptions/${subscriptionAt('/filtered').id}`)
      await eventually(() => {
        for (const marker of carried.flat()) expect(isAcknowledged('/carry', marker)).toBe(true)
      }, waiting)
      await eventually(async () => expect(await messagesLeft()).toEqual([]), waiting)
      for (const request of receiver.requests()) {
        const { deliveryId, eventType } = envelopeOf(request)
        expect(request.headers).toMatchObject({ 'x-svc-delivery': deliveryId, 'x-svc-event': eventType })
      }
      expect(receiver.requests('/filtered')).toEqual([])
      expect(serverErrors).toEqual([])
    },
    3 * PHASE_MS,
  )

  /** The queues that hold messages, and how many. */
  const messagesLeft = async (): Promise<[string, number][]> =>
    Object.entries(await countMessages(fleet.managementUrl)).filter(([, count]) => count > 0)

  /** Whether the endpoint has acknowledged an attempt. */
  const isAcknowledged = (path: string, marker: string): boolean =>
    !failing.has(marker) &&
    attemptsOf(path, marker).some((attempt) => attempt > 1 && attempt === lastAttempt(path, marker))

  const lastAttempt = (path: string, marker: string): number => Math.max(...attemptsOf(path, marker))

  /** An agent dials at one api and hangs up at another; webhooks report the whole call. */
  async function commandsWork(api: string, other: string, agent: number): Promise<void> {
    const agentUri = `sip:mixed-${agent}@acme.example`
    const dialled = await call(api, 'POST', '/voice/calls/dial', { agentUri, destination: '+15550100' })
    expect(dialled.status).toBe(202)
    const { callId } = dialled.body
    const told = (): readonly Readonly<Record<string, unknown>>[] =>
      receiver
        .requests('/steady')
        .map((request) => envelopeOf(request).data)
        .filter((data) => data['callId'] === callId)
    await eventually(() => expect(told().some(({ answeredAt }) => answeredAt)).toBe(true), waiting)
    const ended = await call(other, 'POST', `/voice/calls/${String(callId)}/hangup`, { agentUri })
    expect(ended.status).toBe(202)
    await eventually(() => expect(told().some(({ endedAt }) => endedAt)).toBe(true), waiting)
    const state = await call(api, 'GET', `/voice/agents/${encodeURIComponent(agentUri)}/state`)
    expect(state).toMatchObject({ status: 200, body: { agentUri } })
  }

  /** Creates a subscription, checks it, sends a test, changes it and deletes it. */
  async function subscriptionsWork(api: string, path: string): Promise<void> {
    const { id } = await subscribe(api, path)
    for (let check = 0; check < CHECKS_PER_PHASE; check++) {
      const checked = await call(api, 'POST', `/webhooks/subscriptions/${id}/check`)
      expect(checked).toMatchObject({ status: 200, body: { verdict: expect.any(String) } })
    }
    const tried = await call(api, 'POST', `/webhooks/subscriptions/${id}/test`)
    expect(tried.status).toBe(202)
    await eventually(async () => {
      const read = await call(api, 'GET', `/webhooks/deliveries/${String(tried.body['deliveryId'])}`)
      expect(read.body).toMatchObject({ state: 'acknowledged' })
    }, waiting)
    const disabled = await call(api, 'PATCH', `/webhooks/subscriptions/${id}`, { enabled: false })
    expect(disabled).toMatchObject({ status: 200, body: { enabled: false } })
    expect((await call(api, 'DELETE', `/webhooks/subscriptions/${id}`)).status).toBe(204)
  }

  async function parkedIsSentAgain(api: string, marker: string): Promise<void> {
    const { id } = subscriptionAt('/reject')
    const [request] = receiver.requests('/reject').filter((one) => markerOf(one) === marker)
    const { deliveryId } = envelopeOf(request)
    await eventually(async () => {
      const { body } = await call(api, 'GET', `/webhooks/subscriptions/${id}/deliveries?state=parked`)
      expect(body['items']).toEqual(expect.arrayContaining([expect.objectContaining({ deliveryId })]))
    }, waiting)
    rejecting.delete(marker)
    expect((await call(api, 'POST', `/webhooks/deliveries/${deliveryId}/redeliver`)).status).toBe(202)
    await eventually(async () => {
      expect(attemptsOf('/reject', marker)).toContain(2)
      const { body } = await call(api, 'GET', `/webhooks/deliveries/${deliveryId}`)
      expect(body).toMatchObject({ state: 'acknowledged' })
    }, waiting)
  }
})

function isSigned({ body, headers }: ReceivedRequest, secret: string): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false })
    return true
  } catch {
    return false
  }
}

async function requestToken(devIdp: string): Promise<string> {
  const response = await fetch(`${devIdp}/acme/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'acme-app',
      client_secret: 'acme-secret',
      scope: 'switchhook/.default',
    }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

async function publishEvent(managementUrl: string, marker: string): Promise<void> {
  const event = {
    eventId: randomUUID(),
    eventType: 'call.status',
    occurredAt: new Date().toISOString(),
    tenant: 'acme',
    data: { marker },
  }
  const routed = await management(managementUrl, 'POST', '/exchanges/%2F/switchhook.events/publish', {
    routing_key: event.eventType,
    payload: JSON.stringify(event),
    payload_encoding: 'string',
    properties: { delivery_mode: 2, content_type: 'application/json', type: event.eventType },
  })
  expect(routed).toEqual({ routed: true })
}

async function countMessages(managementUrl: string): Promise<Readonly<Record<string, number>>> {
  const queues = (await management(managementUrl, 'GET', '/queues/%2F')) as readonly {
    readonly name: string
    readonly messages?: number
  }[]
  return Object.fromEntries(queues.map(({ name, messages }) => [name, messages ?? 0]))
}

async function management(managementUrl: string, method: string, path: string, body?: object): Promise<unknown> {
  const { origin, username, password } = new URL(managementUrl)
  const response = await fetch(`${origin}/api${path}`, {
    method,
    headers: { authorization: `Basic ${btoa(`${username}:${password}`)}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`broker: ${method} ${path} answered ${response.status}`)
  return response.json()
}
