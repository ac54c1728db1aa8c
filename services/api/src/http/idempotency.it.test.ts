import {
  AppError,
  CallState,
  type CallStatus,
  type PlatformEvent,
  type SubscriptionId,
  Unavailable,
} from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { SIMULATED_AGENTS } from '@switchhook/platform-simulator'
import { type Surroundings, startSurroundings, takeEvents } from '@switchhook/servicekit'
import { openVault } from '@switchhook/signing'
import {
  createHeldStore,
  createIdempotencyStore,
  createParkedCounter,
  createPullerStore,
  createRejectionStore,
  createStateStore,
  createSubscriptionStore,
  type IdempotencyStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { eventually, silentLog, startTcpProxy, unverified } from '@switchhook/testkit'
import { dial as dialRoute } from '../contact-center/calls/dial-route.ts'
import { legRoutes } from '../contact-center/calls/leg-routes.ts'
import { createCenter, createRecordWith } from '../contact-center/center/center.ts'
import { createTransact } from '../state/transact.ts'
import { type ApiUnderTest, startApiUnderTest } from '../testing/api-under-test.ts'
import { aSimulator } from '../testing/simulator.ts'
import { changeSubscription, deleteSubscription } from '../webhooks/subscriptions/change-routes.ts'
import { HEALTHY } from '../webhooks/subscriptions/endpoint-health.ts'
import { createSubscription } from '../webhooks/subscriptions/subscription-routes.ts'
import { createAnswerOnce, IDEMPOTENCY_TIMING } from './idempotency.ts'
import { type Answer, bind, type Caller, type Route, type RouteRequest } from './route.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const DIAL = '/api/v1/voice/calls/dial'
const CALLER = { tenant: 'acme', clientId: 'crm', role: 'admin' } as const
const ALICE = 'sip:alice@acme.example'
const LEASE_MS = 300

const subscribe = { url: 'https://client.example/hooks', eventTypes: ['call.status'], description: 'CRM' }
/** The call ends shortly after it began. */
const dialBusy = { agentUri: ALICE, destination: '+15550101' }
const dialRinging = { agentUri: ALICE, destination: '+15550102' }

type Checked = Awaited<ReturnType<ApiUnderTest['call']>>

let around: Surroundings<'acme' | 'globex'>
let redis: Redis
let broker: Broker
let replicas: readonly [ApiUnderTest, ApiUnderTest]
let crm: { authorization: string }
/** The events that the replicas have published. */
const events: PlatformEvent[] = []
let keys = 0
/** Resources of one test, closed even if it fails. */
let opened: { close(): Promise<void> }[] = []

beforeAll(async () => {
  around = await startSurroundings('acme', 'globex')
  redis = await openRedis({ url: around.redis.redisUrl, log: silentLog, name: 'test' })
  broker = await openBroker({ url: around.broker.amqpUrl, topology: serviceTopology([]), log: silentLog, name: 'test' })
  await takeEvents(broker, (event) => void events.push(event))
  replicas = await Promise.all([startApiUnderTest(around.env), startApiUnderTest(around.env)])
  crm = tokenOf(CALLER.clientId)
})

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()))
  await Promise.all([redis.close(), broker.close()])
  await around.close()
})

afterEach(async () => {
  for (const one of opened.toReversed()) await one.close()
  opened = []
})

const tokenOf = (azp: string, tenant: 'acme' | 'globex' = 'acme') => around.bearer(tenant, { azp })
const newKey = (): string => `key ${++keys}`

interface Asked {
  readonly key: string
  readonly json?: unknown
  readonly by?: { authorization: string }
  readonly to?: ApiUnderTest
}

const post = (path: string, { key, json, by = crm, to = replicas[0] }: Asked): Promise<Checked> =>
  to.call('POST', path, { headers: { ...by, 'idempotency-key': key }, json })

const create = (asked: Asked): Promise<Checked> => post(SUBSCRIPTIONS, { json: subscribe, ...asked })
const dial = (asked: Asked): Promise<Checked> => post(DIAL, { json: dialBusy, ...asked })
const hangup = (callId: string, asked: Asked): Promise<Checked> =>
  post(`/api/v1/voice/calls/${callId}/hangup`, { json: { agentUri: ALICE }, ...asked })

const isReplayed = ({ headers }: Pick<Checked, 'headers'>): boolean => headers.get('idempotent-replayed') === 'true'
const callIdOf = ({ body }: { readonly body?: unknown }): string => (body as { callId: string }).callId

const subscriptionPath = async (): Promise<string> =>
  `${SUBSCRIPTIONS}/${((await create({ key: newKey() })).body as { id: string }).id}`

async function listed(): Promise<unknown[]> {
  return (await replicas[0].call('GET', SUBSCRIPTIONS, { headers: crm })).body as unknown[]
}

/** The secret is in the answer of the create only. */
function withoutSecret(created: unknown): object {
  const { secret, ...subscription } = created as { readonly secret: string }
  expect(secret).toMatch(/^whsec_/)
  return subscription
}

/** Without duplicates: an event is published again if a replica dies after the broker's confirm. */
const statuses = (): CallStatus[] =>
  [...new Map(events.map((event) => [event.eventId, event])).values()].flatMap(({ eventType, data }) =>
    eventType === 'call.status' ? [data as unknown as CallStatus] : [],
  )
const legEnded = (callId: string): Promise<void> =>
  eventually(() => {
    const ends = statuses().filter((status) => status.callId === callId && status.state === CallState.ended)
    expect(ends).toHaveLength(1)
  })
/** Ids of the calls with events after the first `from` events. */
const callsSince = (from: number): Set<string> =>
  new Set(
    statuses()
      .slice(from)
      .map(({ callId }) => callId),
  )

const vault = openVault({ SECRET_KEYS: undefined }, silentLog)

/** The parts of a replica that answer a request, so that a test can let it die between two of them. */
function partsOfReplica(leaseMs = LEASE_MS) {
  const store = createStateStore(redis)
  const transact = createTransact(store, () => {})
  const platform = aSimulator(SIMULATED_AGENTS, store)
  const recordWith = createRecordWith(transact, 0, Date.now)
  const center = createCenter({ store, transact, recordWith, platform, now: Date.now })
  const ofSubscriptions = {
    subscriptions: createSubscriptionStore(redis, unverified, {}),
    urlRules: { requireHttps: false, guard: createAddressGuard([]) },
    healthOf: async () => HEALTHY,
    parkedCounts: createParkedCounter(redis),
    state: store,
    rejections: createRejectionStore(redis),
    held: createHeldStore(redis),
    pullers: createPullerStore(redis),
    config: { PARKED_LIMIT_PER_SUBSCRIPTION: 100_000 },
    vault,
    log: silentLog,
    now: Date.now,
    redisNow: Date.now,
  }
  const routes: readonly Route[] = [
    ...[createSubscription, changeSubscription, deleteSubscription].map((route) => bind(route, ofSubscriptions)),
    ...[dialRoute, ...legRoutes].map((route) => bind(route, { platform, center, now: Date.now })),
  ]
  return {
    idempotency: createIdempotencyStore(redis, { ...IDEMPOTENCY_TIMING, leaseMs }),
    route: (operationId: string): Route => {
      const found = routes.find((route) => route.operationId === operationId)
      if (found === undefined) throw new Error(`no route ${operationId}`)
      return found
    },
  }
}

interface Direct {
  readonly method?: string
  readonly path: string
  readonly key: string
  readonly json?: unknown
  readonly ifMatch?: string
}

function carryOut(
  idempotency: IdempotencyStore,
  { method = 'POST', path, key, json, ifMatch, reread }: Direct & Pick<Route, 'reread'>,
  handle: (request: RouteRequest) => Promise<Answer>,
  warn: (message: string) => void = () => {},
): Promise<Answer> {
  const [callId = '', id = ''] = path.split('/').slice(-2)
  const request = {
    caller: { ...CALLER, issuer: around.idps.acme.issuer, subject: 'test-client' },
    params: { callId, id },
    query: {},
    body: json,
    requestId: 'direct',
    idFor: () => 'not derived',
    isKeyed: true,
    isClosed: () => false,
    ...(ifMatch !== undefined && { ifMatch }),
  }
  const target = { key, method, path, ...(reread && { reread }) }
  return createAnswerOnce(idempotency, 0, vault, { warn })(target, request, handle)
}

/** A replica runs the request and dies before it stores the answer. Resolves to the answer that was never sent. */
function dieUnanswered(operationId: string, asked: Direct): Promise<Answer> {
  const { idempotency, route } = partsOfReplica()
  return new Promise((resolve, reject) => {
    const dying = { ...idempotency, finish: () => new Promise<never>(() => {}) }
    carryOut(dying, asked, async (request) => {
      const answer = await route(operationId).handle(request)
      resolve(answer)
      return answer
    }).catch(reject)
  })
}

describe('a repeated request', () => {
  test('a create gets the same answer with the same headers, and makes one subscription', async () => {
    const key = newKey()
    const before = await listed()
    const first = await create({ key })
    expect(first.status).toBe(201)
    expect(isReplayed(first)).toBe(false)
    for (const to of replicas) {
      const again = await create({ key, to })
      expect(isReplayed(again)).toBe(true)
      expect(again.status).toBe(201)
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
      const sameHeaders = ['location', 'content-type', 'content-length', 'cache-control']
      const pick = ({ headers }: Checked) => sameHeaders.map((name) => headers.get(name))
      expect(pick(again)).toEqual(pick(first))
      expect(again.headers.get('location')).toBe(`${SUBSCRIPTIONS}/${(first.body as { id: string }).id}`)
    }
    expect(await listed()).toEqual([...before, withoutSecret(first.body)])
  })

  test('a dial gets the same call, even after its end, and dials once', async () => {
    const key = newKey()
    const from = statuses().length
    const first = await dial({ key })
    expect(first.status).toBe(202)
    expect(await dial({ key, to: replicas[1] })).toMatchObject({ status: 202, body: first.body })
    await legEnded(callIdOf(first))
    const again = await dial({ key })
    expect(again).toMatchObject({ status: 202, body: first.body })
    expect(isReplayed(again)).toBe(true)
    expect(callsSince(from)).toEqual(new Set([callIdOf(first)]))
  })

  test('a hangup gets the answer of the first one, without noop', async () => {
    const callId = callIdOf(await dial({ key: newKey(), json: dialRinging }))
    const key = newKey()
    const first = await hangup(callId, { key })
    expect(first).toMatchObject({ status: 202, body: { noop: false } })
    await legEnded(callId)
    const again = await hangup(callId, { key, to: replicas[1] })
    expect(again).toMatchObject({ status: 202, body: first.body })
    expect(isReplayed(again)).toBe(true)
    expect((await hangup(callId, { key: newKey() })).body).toMatchObject({ noop: true })
  })

  test('white space and the order of fields do not make another request', async () => {
    const key = newKey()
    const { url, eventTypes, description } = subscribe
    const first = await create({ key })
    const again = await replicas[0].call('POST', SUBSCRIPTIONS, {
      headers: { ...crm, 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ description, eventTypes, url }, null, 2),
    })
    expect(again).toMatchObject({ status: 201, body: first.body })
  })

  test('without a key nothing is stored', async () => {
    const ask = () => replicas[0].call('POST', SUBSCRIPTIONS, { headers: crm, json: subscribe })
    const [first, second] = [await ask(), await ask()]
    expect((first.body as { id: string }).id).not.toBe((second.body as { id: string }).id)
    expect([first, second].map(isReplayed)).toEqual([false, false])
  })

  test('a dial without a key repeats an identical earlier dial with a key', async () => {
    const json = { ...dialRinging, correlationId: newKey() }
    const first = await dial({ key: newKey(), json })
    await eventually(() => expect(statuses().map(({ callId }) => callId)).toContain(callIdOf(first)))
    const again = await replicas[1].call('POST', DIAL, { headers: crm, json })
    expect(again).toMatchObject({ status: 202, body: { callId: callIdOf(first), noop: true } })
    expect([first, again].map(isReplayed)).toEqual([false, true])
    await hangup(callIdOf(first), { key: newKey() })
    await legEnded(callIdOf(first))
    const redialled = await replicas[0].call('POST', DIAL, { headers: crm, json })
    expect(redialled).toMatchObject({ status: 202, body: { noop: false } })
    expect(callIdOf(redialled)).not.toBe(callIdOf(first))
    await hangup(callIdOf(redialled), { key: newKey() })
    await legEnded(callIdOf(redialled))
  })

  test('a PATCH gets the same answer, and does not undo a later change', async () => {
    const path = await subscriptionPath()
    const headers = { ...crm, 'idempotency-key': newKey() }
    const patch = (to: ApiUnderTest) => to.call('PATCH', path, { headers, json: { description: 'one' } })
    const first = await patch(replicas[0])
    await replicas[0].call('PATCH', path, { headers: crm, json: { description: 'two' } })
    const again = await patch(replicas[1])
    expect([again.status, again.body, isReplayed(again)]).toEqual([200, first.body, true])
    expect((await replicas[0].call('GET', path, { headers: crm })).body).toMatchObject({ description: 'two' })
  })

  test('a DELETE gets 204 again, not 404', async () => {
    const path = await subscriptionPath()
    const headers = { ...crm, 'idempotency-key': newKey() }
    const answers = [
      await replicas[0].call('DELETE', path, { headers }),
      await replicas[1].call('DELETE', path, { headers }),
    ]
    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual([
      [204, false],
      [204, true],
    ])
  })

  test('a presence is set once', async () => {
    const path = '/api/v1/voice/agents/sip:bob@acme.example/presence'
    const first = { key: newKey(), json: { statusCode: 66 } }
    expect(isReplayed(await post(path, first))).toBe(false)
    await post(path, { key: newKey(), json: { statusCode: 2 } })
    expect(isReplayed(await post(path, first))).toBe(true)
    const state = await replicas[0].call('GET', path.replace('presence', 'state'), { headers: crm })
    expect(state.body).toMatchObject({ statusCode: 2 })
  })

  test('a GET ignores even an invalid key', async () => {
    const headers = { ...crm, 'idempotency-key': 'x'.repeat(300) }
    expect((await replicas[0].call('GET', SUBSCRIPTIONS, { headers })).status).toBe(200)
  })

  test.each([
    ['a check', async () => `${await subscriptionPath()}/check`],
    ['the simulator', async () => '/simulator/v1/calls'],
  ])('%s cannot honour a key: it answers 400 and names the header', async (_what, pathOf) => {
    const path = await pathOf()
    const { status, body } = await post(path, { key: newKey(), json: { agentUri: ALICE, from: '+15550199' } })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request', detail: expect.stringContaining('Idempotency-Key') })
  })
})

describe('another request under the same key', () => {
  test.each<[string, unknown]>([
    ['another value', { ...subscribe, description: 'ERP' }],
    ['one field less', { url: subscribe.url, eventTypes: subscribe.eventTypes }],
    ['an additional ignored field', { ...subscribe, id: null }],
    ['another order of a list', { ...subscribe, eventTypes: ['call.status', 'call.status'] }],
  ])('a body with %s answers 422 and has no effect', async (_what, json) => {
    const key = newKey()
    const first = await create({ key })
    const before = await listed()
    const other = await create({ key, json, to: replicas[1] })
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } })
    expect(isReplayed(other)).toBe(false)
    expect(await listed()).toEqual(before)
    expect(await create({ key })).toMatchObject({ status: 201, body: first.body })
  })

  test('another client, another tenant and another path have keys of their own', async () => {
    const key = newKey()
    const first = await create({ key })
    const others = [await create({ key, by: tokenOf('erp') }), await create({ key, by: tokenOf('crm', 'globex') })]
    expect(others.map(({ status }) => status)).toEqual([201, 201])
    expect(new Set([first, ...others].map(({ body }) => (body as { id: string }).id)).size).toBe(3)
    const dialled = await dial({ key })
    expect(dialled.status).toBe(202)
    await legEnded(callIdOf(dialled))
    const body = { agentUri: ALICE }
    expect(await hangup(callIdOf(dialled), { key, json: body })).toMatchObject({ status: 202, body: { noop: true } })
    expect([first, ...others, dialled].map(isReplayed)).toEqual([false, false, false, false])
  })
})

test('another person of the same client does not get the secret of the first', async () => {
  const key = newKey()
  const by = (sub: string) => around.bearer('acme', { azp: 'console', sub })
  const [first, other, repeated] = [
    await create({ key, by: by('ann') }),
    await create({ key, by: by('ben') }),
    await create({ key, by: by('ann') }),
  ]
  expect([first, other, repeated].map(isReplayed)).toEqual([false, false, true])
  const secretOf = ({ body }: Checked) => (body as { secret: string }).secret
  expect(secretOf(repeated)).toBe(secretOf(first))
  expect(secretOf(other)).not.toBe(secretOf(first))
})

test('the stored answer to a large subscription is small, and its replay complete', async () => {
  const stored: number[] = []
  const { idempotency, route } = partsOfReplica()
  const keeping: IdempotencyStore = {
    ...idempotency,
    finish: (claim, answer) => {
      stored.push(JSON.stringify(answer).length)
      return idempotency.finish(claim, answer)
    },
  }
  const filter = { 'call.status': { agentUri: Array.from({ length: 15 }, (_, at) => `${at}${'x'.repeat(200)}`) } }
  for (const json of [subscribe, { ...subscribe, filter }]) {
    const { reread, handle } = route('createSubscription')
    const asked = { path: SUBSCRIPTIONS, key: newKey(), json, ...(reread && { reread }) }
    const first = await carryOut(keeping, asked, handle)
    const again = await carryOut(keeping, asked, handle)
    expect({ ...(again.body as object), ...again.large }).toEqual({ ...(first.body as object), ...first.large })
    expect(again.large).toMatchObject({ filter: 'filter' in json ? filter : null })
  }
  const [small = 0, large = 0] = stored
  expect(large).toBeLessThan(small + 100)

  const pull = { path: SUBSCRIPTIONS, key: newKey(), json: { mode: 'pull', eventTypes: ['call.status'] } }
  const { body } = await carryOut(keeping, pull, route('createSubscription').handle)
  const { id } = body as { readonly id: SubscriptionId }
  const pullers = createPullerStore(redis)
  for (let at = 0; at < 20; at++) await pullers.note(id, `${at}${'x'.repeat(250)}`, Date.now())
  const { reread, handle } = route('changeSubscription')
  const change = { path: `${SUBSCRIPTIONS}/${id}`, key: newKey(), json: { enabled: true }, ...(reread && { reread }) }
  const answers = [await carryOut(keeping, change, handle), await carryOut(keeping, change, handle)]
  for (const answer of answers) expect(answer.large?.['receivers']).toHaveLength(20)
  expect(stored.at(-1)).toBeLessThan(small + 200)
})

describe('at the same time on two replicas', () => {
  const together = (ask: (to: ApiUnderTest) => Promise<Checked>): Promise<Checked[]> =>
    Promise.all([...replicas, ...replicas].map(ask))

  test('creates make one subscription, and all get the same answer', async () => {
    for (let round = 0; round < 10; round++) {
      const key = newKey()
      const before = await listed()
      const answers = await together((to) => create({ key, to }))
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1)
      expect(await listed()).toEqual([...before, withoutSecret(answers[0]?.body)])
    }
  })

  test('dials make one call, and all get the same answer', async () => {
    for (let round = 0; round < 5; round++) {
      const key = newKey()
      const from = statuses().length
      const answers = await together((to) => dial({ key, to }))
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1)
      await legEnded(callIdOf(answers[0] ?? {}))
      expect(callsSince(from)).toEqual(new Set([callIdOf(answers[0] ?? {})]))
    }
  })

  test('a request that waits too long is answered 409 with Retry-After, and later gets the answer', async () => {
    const impatient = await startApiUnderTest(around.env, { idempotencyTiming: { waitMs: 200 } })
    opened.push(impatient)
    const key = newKey()
    const { idempotency, route } = partsOfReplica(60_000)
    let finish = (): void => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const slow = carryOut(idempotency, { path: SUBSCRIPTIONS, key, json: subscribe }, async (request) => {
      await finished
      return route('createSubscription').handle(request)
    })
    await eventually(async () => {
      const waited = await create({ key, to: impatient })
      expect(waited).toMatchObject({ status: 409, body: { code: 'idempotency-key-in-use' } })
      expect(waited.headers.get('retry-after')).toBe('5')
      expect(isReplayed(waited)).toBe(false)
    })
    const patient = create({ key })
    finish()
    const { body } = await slow
    expect(await patient).toMatchObject({ status: 201, body })
    expect(await create({ key, to: impatient })).toMatchObject({ status: 201, body })
  })
})

describe('after a replica died before it answered', () => {
  test('a dial gets the same call, which was dialled once', async () => {
    const key = newKey()
    const from = statuses().length
    const unread = await dieUnanswered('dial', { path: DIAL, key, json: dialRinging })
    await eventually(() => expect(callsSince(from).size).toBe(1))
    const again = await dial({ key, json: dialRinging, to: replicas[1] })
    const { callId, commandId } = unread.body as { callId: string; commandId: string }
    expect(again).toMatchObject({ status: 202, body: { callId, commandId } })
    expect(isReplayed(again)).toBe(false)
    expect(isReplayed(await dial({ key, json: dialRinging }))).toBe(true)
    await hangup(callIdOf(again), { key: newKey() })
    await legEnded(callIdOf(again))
    expect(callsSince(from)).toEqual(new Set([callIdOf(unread)]))
  })

  test('a dial gets the same call even after its end', async () => {
    const key = newKey()
    const from = statuses().length
    const unread = await dieUnanswered('dial', { path: DIAL, key, json: dialBusy })
    await legEnded(callIdOf(unread))
    expect(await dial({ key })).toMatchObject({ status: 202, body: unread.body as object })
    const other = await dial({ key: newKey() })
    await legEnded(callIdOf(other))
    expect(callsSince(from)).toEqual(new Set([callIdOf(unread), callIdOf(other)]))
  })

  test('a create gets the same subscription in its current state', async () => {
    const key = newKey()
    const before = await listed()
    const unread = await dieUnanswered('createSubscription', { path: SUBSCRIPTIONS, key, json: subscribe })
    const { id } = unread.body as { id: string }
    const change = { headers: crm, json: { enabled: false } }
    const changed = await replicas[0].call('PATCH', `${SUBSCRIPTIONS}/${id}`, change)
    expect(await create({ key })).toMatchObject({ status: 201, body: changed.body })
    expect(await listed()).toEqual([...before, changed.body])
  })

  test('a change with If-Match succeeds, although its first run has changed the tag', async () => {
    const path = await subscriptionPath()
    const tag = (await replicas[0].call('GET', path, { headers: crm })).headers.get('etag') ?? ''
    const asked = { method: 'PATCH', path, key: newKey(), json: { description: 'one' }, ifMatch: tag }
    const unread = await dieUnanswered('changeSubscription', asked)
    const patch = (key: string, ifMatch: string) =>
      replicas[0].call('PATCH', path, {
        headers: { ...crm, 'idempotency-key': key, 'if-match': ifMatch },
        json: asked.json,
      })
    expect((await patch(asked.key, '"other"')).status).toBe(422)
    expect(await patch(asked.key, tag)).toMatchObject({ status: 200, body: unread.body as object })
    expect((await patch(newKey(), tag)).status).toBe(412)
  })

  test('a delete gets 204, although its first run has deleted the subscription', async () => {
    const path = await subscriptionPath()
    const key = newKey()
    expect(await dieUnanswered('deleteSubscription', { method: 'DELETE', path, key })).toEqual({ status: 204 })
    const headers = { ...crm, 'idempotency-key': key }
    expect((await replicas[0].call('DELETE', path, { headers })).status).toBe(204)
    const other = { ...crm, 'idempotency-key': newKey() }
    expect((await replicas[0].call('DELETE', path, { headers: other })).status).toBe(404)
  })

  test('a hangup gets the same command id', async () => {
    const callId = callIdOf(await dial({ key: newKey(), json: dialRinging }))
    const key = newKey()
    const path = `/api/v1/voice/calls/${callId}/hangup`
    const unread = await dieUnanswered('hangup', { path, key, json: { agentUri: ALICE } })
    await legEnded(callId)
    const { commandId } = unread.body as { commandId: string }
    expect(await hangup(callId, { key })).toMatchObject({ status: 202, body: { commandId, noop: false } })
  })

  test('the key still rejects another body', async () => {
    const key = newKey()
    await dieUnanswered('createSubscription', { path: SUBSCRIPTIONS, key, json: subscribe })
    const other = await create({ key, json: { ...subscribe, description: 'ERP' } })
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency-key-reused' } })
  })
})

describe('refusals and failures', () => {
  test('a refusal is replayed with the id of the repeated request', async () => {
    const key = newKey()
    const unknown = '7b1fbb0c-0d51-4d30-8fd1-1f3f3d3c5f5e'
    const refused = await hangup(unknown, { key })
    expect(refused).toMatchObject({ status: 404, body: { code: 'call-not-found' } })
    expect(isReplayed(refused)).toBe(false)
    const again = await hangup(unknown, { key, to: replicas[1] })
    expect(isReplayed(again)).toBe(true)
    const requestId = again.headers.get('x-request-id')
    expect(again).toMatchObject({ status: 404, body: { ...(refused.body as object), requestId } })
  })

  test('a refusal because of a state releases its key: the same request succeeds once the state allows it', async () => {
    const callId = callIdOf(await dial({ key: newKey(), json: dialRinging }))
    const key = newKey()
    for (const to of replicas) {
      const refused = await dial({ key, to })
      expect(refused).toMatchObject({ status: 409, body: { code: 'agent-device-unavailable' } })
      expect(isReplayed(refused)).toBe(false)
    }
    expect(await dial({ key, json: dialRinging })).toMatchObject({
      status: 422,
      body: { code: 'idempotency-key-reused' },
    })
    await hangup(callId, { key: newKey() })
    await legEnded(callId)
    const dialled = await dial({ key, to: replicas[1] })
    expect(dialled).toMatchObject({ status: 202, body: { noop: false } })
    const again = await dial({ key })
    expect([callIdOf(again), isReplayed(again)]).toEqual([callIdOf(dialled), true])
    await legEnded(callIdOf(dialled))
  })

  test('a 412 releases its key; the change with the new ETag needs a key of its own', async () => {
    const path = await subscriptionPath()
    const patch = (key: string, ifMatch: string, to = replicas[0]) =>
      to.call('PATCH', path, {
        headers: { ...crm, 'idempotency-key': key, 'if-match': ifMatch },
        json: { description: 'one' },
      })
    const key = newKey()
    for (const to of replicas) {
      const refused = await patch(key, '"outdated"', to)
      expect(refused).toMatchObject({ status: 412, body: { code: 'precondition-failed' } })
      expect(isReplayed(refused)).toBe(false)
    }
    const tag = (await replicas[0].call('GET', path, { headers: crm })).headers.get('etag') ?? ''
    expect((await patch(key, tag)).status).toBe(422)
    expect((await patch(newKey(), tag)).status).toBe(200)
  })

  test('a refusal before the key is used is not stored, so the corrected request works', async () => {
    const key = newKey()
    expect((await create({ key, json: { ...subscribe, url: 'hello' } })).status).toBe(400)
    expect((await create({ key, by: { authorization: 'Bearer none' } })).status).toBe(401)
    const corrected = await create({ key })
    expect(corrected.status).toBe(201)
    expect(isReplayed(corrected)).toBe(false)
  })

  test.each<[string, () => Error]>([
    ['an unavailable platform', () => new AppError('platform-unavailable')],
    ['an unavailable Redis', () => new Unavailable('redis', 'away')],
    ['a bug', () => new TypeError('bug')],
  ])('with %s nothing is stored, and an immediate retry runs the request with the same ids', async (_what, fail) => {
    const { idempotency, route } = partsOfReplica(60_000)
    const asked = { path: SUBSCRIPTIONS, key: newKey(), json: subscribe }
    let made: Answer | undefined
    const failing = carryOut(idempotency, asked, async (request) => {
      made = await route('createSubscription').handle(request)
      throw fail()
    })
    await expect(failing).rejects.toThrow(fail().message)
    const again = await create({ key: asked.key })
    expect(again).toMatchObject({ status: 201, body: made?.body as object })
    expect(isReplayed(again)).toBe(false)
  })

  test('the large fields of an answer are not stored, and read again for its replay', async () => {
    const { idempotency } = partsOfReplica()
    const asked = { path: SUBSCRIPTIONS, key: newKey(), json: subscribe }
    const stored: unknown[] = []
    const keeping: IdempotencyStore = {
      ...idempotency,
      finish: (claim, answer) => {
        stored.push(answer)
        return idempotency.finish(claim, answer)
      },
    }
    const handle = async (): Promise<Answer> => ({ status: 202, body: { id: 1, text: null }, large: { text: 'x' } })
    expect(await carryOut(keeping, asked, handle)).toMatchObject({ large: { text: 'x' } })
    expect(stored).toEqual([{ answer: { status: 202, body: { id: 1, text: null } } }])
    const reread = async (caller: Caller, body: unknown) => ({ text: JSON.stringify([caller.clientId, body]) })
    const again = await carryOut(keeping, { ...asked, reread }, handle)
    expect(again).toMatchObject({ body: { id: 1 }, large: { text: '["crm",{"id":1,"text":null}]' } })
  })

  test('what a handler has noted for a repeat is forgotten once its answer is stored, and only then', async () => {
    const { idempotency } = partsOfReplica()
    const asked = { path: SUBSCRIPTIONS, key: newKey() }
    let forgotten = 0
    const handle = async (): Promise<Answer> => ({ status: 202, answered: async () => void forgotten++ })
    const cut = { ...idempotency, finish: () => Promise.reject(new Unavailable('redis', 'away')) }
    expect(await carryOut(cut, asked, handle)).toMatchObject({ status: 202 })
    const takenOver = { ...idempotency, finish: async () => false }
    expect(await carryOut(takenOver, { ...asked, key: newKey() }, handle)).toMatchObject({ status: 202 })
    expect(forgotten).toBe(0)
    const stored = { ...asked, key: newKey() }
    await carryOut(idempotency, stored, handle)
    expect(await carryOut(idempotency, stored, handle)).toMatchObject({ headers: { 'Idempotent-Replayed': 'true' } })
    expect(forgotten).toBe(1)
  })

  test('an answer that cannot be stored is still sent, and a warning is logged', async () => {
    const { idempotency, route } = partsOfReplica()
    const asked = { path: SUBSCRIPTIONS, key: newKey(), json: subscribe }
    const cut = { ...idempotency, finish: () => Promise.reject(new Unavailable('redis', 'away')) }
    const warnings: string[] = []
    const { status, body } = await carryOut(
      cut,
      asked,
      (request) => route('createSubscription').handle(request),
      (message) => warnings.push(message),
    )
    expect(status).toBe(201)
    expect(warnings).toEqual(['the answer to an Idempotency-Key could not be stored'])
    expect(await create({ key: asked.key })).toMatchObject({ status: 201, body: body as object })
  })

  test('without Redis a keyed request answers 503, and works under the same key afterwards', async () => {
    const toRedis = await startTcpProxy(around.redis.redisUrl)
    opened.push(toRedis)
    const cut = await startApiUnderTest({ ...around.env, REDIS_URL: toRedis.url })
    opened.push(cut)
    const key = newKey()
    toRedis.refuse()
    await eventually(() => expect(cut.isReady()).toBe(false))
    expect(await create({ key, to: cut })).toMatchObject({ status: 503, body: { code: 'service-unavailable' } })
    toRedis.accept()
    await eventually(() => expect(cut.isReady()).toBe(true))
    const made = await create({ key, to: cut })
    expect(made.status).toBe(201)
    expect(isReplayed(made)).toBe(false)
  })
})

describe('keys', () => {
  test.each<[string, string]>([
    ['an empty key', ''],
    ['a key of 256 characters', 'k'.repeat(256)],
    ['a key that is not ASCII', 'schl\u00fcssel'],
    ['a key with a control character', 'a\tb'],
  ])('%s answers 400 and names the header', async (_what, key) => {
    const before = await listed()
    const { status, body } = await create({ key })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request', detail: expect.stringContaining('Idempotency-Key') })
    expect(await listed()).toEqual(before)
  })

  test.each([['!'], ['k'.repeat(255)], ['"quoted", {with: braces} ~']])('%s is a key', async (key) => {
    const first = await create({ key })
    expect(first.status).toBe(201)
    expect(await create({ key })).toMatchObject({ status: 201, body: first.body })
  })

  test('a deeply nested body answers 400, not 500', async () => {
    const body = `{"url":"https://client.example","eventTypes":["call.status"],"id":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const headers = { ...crm, 'idempotency-key': newKey(), 'content-type': 'application/json' }
    const answer = await replicas[0].call('POST', SUBSCRIPTIONS, { headers, body })
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
  })
})
