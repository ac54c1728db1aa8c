import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  parseSubscriptionId,
  type SubscribedType,
} from '@switchhook/contracts'
import {
  attemptOf,
  loggedEvent,
  newDelivery,
  type Surroundings,
  startSurroundings,
  startWorkerStub,
  type WorkerStub,
} from '@switchhook/servicekit'
import { createJournal, createSubscriptionStore, type DeliveryStore, type Redis } from '@switchhook/store'
import { aSubscription, eventually, startTcpProxy, type TcpProxy, unverified } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'
import type { RecoveryView } from './recovery-schema.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const RECOVERIES = '/api/v1/webhooks/recoveries'

let surroundings: Surroundings<'acme' | 'globex'>
let wire: TcpProxy
let apis: readonly [ApiUnderTest, ApiUnderTest]
let redis: Redis
let worker: WorkerStub
let store: DeliveryStore
let acme: { authorization: string }
let globex: { authorization: string }
let due: Delivery[]

beforeAll(async () => {
  surroundings = await startSurroundings('acme', 'globex')
  wire = await startTcpProxy(surroundings.broker.amqpUrl)
  const env = { ...surroundings.env, AMQP_URL: wire.url }
  apis = [await startApiUnderTest(env), await startApiUnderTest(env)]
  acme = surroundings.bearer('acme')
  globex = surroundings.bearer('globex')

  worker = await startWorkerStub(surroundings, (delivery, written) =>
    written.settle(delivery, attemptOf(delivery, { outcome: 'delivered', status: 204 }), { state: 'acknowledged' }),
  )
  ;({ redis, store, due } = worker)
})

afterAll(async () => {
  await Promise.all(apis.map((api) => api.close()))
  await worker.close()
  await wire.close()
  await surroundings.close()
})

afterEach(() => {
  due.length = 0
})

async function subscribe(headers = acme): Promise<string> {
  const json = { url: 'https://client.example/hooks', eventTypes: ['call.status'] }
  const { body } = await apis[0].call('POST', SUBSCRIPTIONS, { headers, json })
  return (body as { id: string }).id
}

async function park(subscription: string): Promise<string> {
  const delivery = newDelivery(subscription)
  await store.park(delivery, attemptOf(delivery), 'exhausted')
  return delivery.deliveryId
}

async function parkSome(subscription: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => park(subscription)))
}

const recover = (subscription: string, json: object = {}, headers = {}, end = '') =>
  apis[0].call('POST', `${SUBSCRIPTIONS}/${subscription}/recover${end}`, { headers: { ...acme, ...headers }, json })

const preview = (subscription: string, json: object) => recover(subscription, json, {}, '/preview')

const read = async (id: string): Promise<RecoveryView> =>
  (await apis[1].call('GET', `${RECOVERIES}/${id}`, { headers: acme })).body as RecoveryView

const begin = async (subscription: string, json: object = {}): Promise<RecoveryView> => {
  const { status, body } = await recover(subscription, json)
  expect(status).toBe(202)
  return body as RecoveryView
}

const until = (id: string, state: RecoveryView['state'], timeoutMs = 20_000): Promise<RecoveryView> =>
  eventually(
    async () => {
      const recovery = await read(id)
      expect(recovery.state).toBe(state)
      return recovery
    },
    { timeoutMs },
  )

test('a preview counts and changes nothing; then a recovery sends all deliveries once and reports it', async () => {
  const subscription = await subscribe()
  const parked = await parkSome(subscription, 5)
  const counted = await preview(subscription, {})
  expect(counted).toMatchObject({ status: 200, body: { count: 5, oldest: expect.any(String) } })
  expect((await preview(subscription, { reason: 'rejected' })).body).toEqual({
    count: 0,
    withoutBody: 0,
    oldest: null,
    newest: null,
  })

  const { status, headers, body } = await recover(subscription)
  expect(status).toBe(202)
  const { recoveryId } = body as RecoveryView
  expect(headers.get('location')).toBe(`${RECOVERIES}/${recoveryId}`)
  expect(body).toMatchObject({ state: 'running', found: 5, sent: 0, remaining: 5, perSecond: 1, from: null, to: null })
  const done = await until(recoveryId, 'done')
  expect(done).toMatchObject({ found: 5, sent: 5, skipped: 0, failed: 0, remaining: 0, perSecond: 0 })
  await eventually(() => expect(due).toHaveLength(5))
  expect(due.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(parked.toSorted())
  for (const { run, slot, attempt } of due) expect([run, slot, attempt]).toEqual([2, 0, 1])
  // They give way to deliveries that are due.
  for (const delivery of due) expect(worker.yielding).toContain(delivery)

  const list = await apis[1].call('GET', `${SUBSCRIPTIONS}/${subscription}/recoveries`, { headers: acme })
  expect(list.body).toEqual({ items: [done] })
  expect((await preview(subscription, {})).body).toMatchObject({ count: 0 })
})

test('parkedSince counts the deliveries parked since the beginning, whether the recovery sent them or not', async () => {
  const subscription = await subscribe()
  await parkSome(subscription, 2)
  const { recoveryId, parkedSince } = await begin(subscription)
  expect(parkedSince).toBe(0)
  await until(recoveryId, 'done')
  const sent = await eventually(() => {
    expect(due).toHaveLength(2)
    return due
  })
  const again = sent[0]
  if (again === undefined) throw new Error('nothing was sent')
  // As if it was sent again since, and answered 410.
  await store.park({ ...again, run: 3 }, attemptOf({ ...again, run: 3, attempt: 2 }, { status: 410 }), 'rejected')
  expect(await read(recoveryId)).toMatchObject({ state: 'done', sent: 2, remaining: 0, parkedSince: 1 })
  await park(subscription)
  await park(await subscribe())
  // Keeps the next recovery from sending.
  await apis[0].call('PATCH', `${SUBSCRIPTIONS}/${subscription}`, { headers: acme, json: { enabled: false } })
  const later = await begin(subscription)
  expect(later.parkedSince).toBe(0)
  const { body } = await apis[1].call('GET', `${SUBSCRIPTIONS}/${subscription}/recoveries`, { headers: acme })
  expect(body).toMatchObject({ items: [{ recoveryId: later.recoveryId }, { recoveryId, parkedSince: 2 }] })
  await apis[1].call('POST', `${RECOVERIES}/${later.recoveryId}/cancel`, { headers: acme })
})

test('the same request with or without an Idempotency-Key starts one recovery; another window is rejected', async () => {
  const subscription = await subscribe()
  await parkSome(subscription, 3)
  const keyed = { 'idempotency-key': 'weekend' }
  const first = await recover(subscription, {}, keyed)
  const again = await recover(subscription, {}, keyed)
  expect(again).toMatchObject({ status: 202, body: first.body })
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const { recoveryId } = first.body as RecoveryView
  expect((await begin(subscription)).recoveryId).toBe(recoveryId)
  const other = await recover(subscription, { from: '2026-01-01T00:00:00Z' })
  expect(other).toMatchObject({ status: 409, body: { code: 'recovery-in-progress', detail: expect.any(String) } })
  await until(recoveryId, 'done')
  expect(due).toHaveLength(3)
})

test('a cancelled recovery sends nothing more, and cancelling it again changes nothing', async () => {
  const subscription = await subscribe()
  await parkSome(subscription, 5)
  const { recoveryId } = await begin(subscription)
  const cancel = () => apis[1].call('POST', `${RECOVERIES}/${recoveryId}/cancel`, { headers: acme })
  const { status, body } = await cancel()
  expect(status).toBe(200)
  const { sent } = body as RecoveryView
  expect(body).toMatchObject({ state: 'cancelled', cancelledBecause: 'requested', remaining: 5 - sent })
  expect((await cancel()).body).toEqual(body)
  const headers = { ...acme, 'idempotency-key': `cancel ${recoveryId}` }
  const replayed = async (): Promise<string | null> => {
    const answer = await apis[0].call('POST', `${RECOVERIES}/${recoveryId}/cancel`, { headers })
    expect(answer.body).toEqual(body)
    return answer.headers.get('idempotent-replayed')
  }
  expect([await replayed(), await replayed()]).toEqual([null, 'true'])
  // A new recovery sends exactly the rest.
  const { recoveryId: next } = await begin(subscription)
  expect(await until(next, 'done')).toMatchObject({ found: 5 - sent, sent: 5 - sent })
  await eventually(() => expect(due).toHaveLength(5))
  expect(new Set(due.map(({ run }) => run))).toEqual(new Set([2]))
})

test('a recovery pauses while the broker is away, and resumes automatically', async () => {
  const subscription = await subscribe()
  await parkSome(subscription, 3)
  wire.refuse()
  await eventually(() => expect(apis.every((api) => !api.isReady())).toBe(true))
  const { recoveryId } = await begin(subscription)
  expect(await until(recoveryId, 'paused')).toMatchObject({ waitingFor: 'broker', sent: 0, remaining: 3 })
  wire.accept()
  expect(await until(recoveryId, 'done', 40_000)).toMatchObject({ sent: 3, failed: 0, skipped: 0 })
  await eventually(() => expect(new Set(due.map(({ deliveryId }) => deliveryId)).size).toBe(3))
})

test.each<[object, string]>([
  [{ from: 'yesterday' }, '/from'],
  [{ from: '2016-12-31T23:59:60Z' }, '/from'],
  [{ to: '2016-12-31T23:59:60Z' }, '/to'],
  [{ from: '2026-11-20T17:06:01Z', to: '2026-11-20T17:06:00Z' }, '/to'],
  [{ from: '2026-11-20T17:06:01Z', to: '2026-11-20T18:06:01+01:00' }, '/to'],
  [{ reason: 'tired' }, '/reason'],
  [{ maxPerSecond: 0 }, '/maxPerSecond'],
  [{ dryRun: true }, '/dryRun'],
  [{ reasons: ['exhausted'] }, '/reasons'],
])('%j answers 400 and names the field', async (json, pointer) => {
  const subscription = await subscribe()
  for (const { status, body } of [await recover(subscription, json), await preview(subscription, json)]) {
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'invalid-request', errors: [{ pointer }] })
  }
})

test('an empty window does not use up its Idempotency-Key', async () => {
  const subscription = await subscribe()
  const keyed = { 'idempotency-key': 'monday' }
  const wrong = await recover(subscription, { from: '2026-11-20T17:06:01Z', to: '2026-11-20T17:06:01Z' }, keyed)
  expect(wrong.status).toBe(400)
  expect((await recover(subscription, { from: '2026-11-20T17:06:01Z' }, keyed)).status).toBe(202)
})

test('an unknown field is rejected with the names of the known fields', async () => {
  const { body } = await recover(await subscribe(), { fron: '2026-11-20T17:06:01Z' })
  const detail = 'The body is not valid. Allowed fields: from, to, reason, eventTypes, maxPerSecond.'
  expect(body).toMatchObject({
    detail,
    errors: [{ pointer: '/fron', detail: 'is not a known field; did you mean "from"?' }],
  })
})

test('a recovery of another tenant, a malformed id and an unknown id answer 404', async () => {
  const subscription = await subscribe()
  const { recoveryId } = await begin(subscription)
  for (const id of [recoveryId, 'hello', deliveryIdOf(newEventId(), parseSubscriptionId(subscription))]) {
    for (const [method, path] of [
      ['GET', `${RECOVERIES}/${id}`],
      ['POST', `${RECOVERIES}/${id}/cancel`],
    ] as const) {
      const answer = await apis[0].call(method, path, { headers: globex })
      expect(answer).toMatchObject({ status: 404, body: { code: 'recovery-not-found' } })
    }
  }
  for (const [method, path] of [
    ['POST', `${SUBSCRIPTIONS}/${subscription}/recover`],
    ['GET', `${SUBSCRIPTIONS}/${subscription}/recoveries`],
  ] as const) {
    const answer = await apis[0].call(method, path, { headers: globex, ...(method === 'POST' && { json: {} }) })
    expect(answer).toMatchObject({ status: 404, body: { code: 'subscription-not-found' } })
  }
})

describe('a backfill', () => {
  const journal = () => createJournal(redis, { size: 100, retentionMs: 60_000, deliveryRetentionMs: 60_000 })
  const backfill = (subscription: string, json: object, headers = acme) =>
    apis[0].call('POST', `${SUBSCRIPTIONS}/${subscription}/backfill`, { headers, json })
  const previewBackfill = (subscription: string, json: object) =>
    apis[0].call('POST', `${SUBSCRIPTIONS}/${subscription}/backfill/preview`, { headers: acme, json })
  const FROM = '2026-01-01T00:00:00Z'

  test('is counted by a preview, runs, and is listed among the recoveries of the tenant', async () => {
    const events = [loggedEvent({ dataJson: '{"callId":"c-1"}' }), loggedEvent({ dataJson: '{"callId":"c-2"}' })]
    await journal().append(events)
    const subscription = await subscribe()
    const counted = await previewBackfill(subscription, { from: FROM })
    expect(counted).toMatchObject({ status: 200, body: { count: 2, withoutBody: 0 } })
    const asked = { from: FROM, eventTypes: ['call.status'], maxPerSecond: 50 }
    const begun = await backfill(subscription, asked)
    expect(begun).toMatchObject({
      status: 202,
      body: { kind: 'backfill', subscriptionId: subscription, eventTypes: ['call.status'], reason: null, found: 2 },
    })
    const { recoveryId } = begun.body as RecoveryView
    expect(begun.headers.get('location')).toBe(`${RECOVERIES}/${recoveryId}`)
    expect(await until(recoveryId, 'done')).toMatchObject({ kind: 'backfill', sent: 2, remaining: 0 })
    const ids = events.map(({ eventId }) => deliveryIdOf(eventId, parseSubscriptionId(subscription)))
    expect(due.map(({ deliveryId }) => deliveryId)).toEqual(ids)
    const { body: list } = await apis[1].call('GET', `${RECOVERIES}?limit=1`, { headers: acme })
    expect(list).toMatchObject({ items: [{ recoveryId }] })
    expect((await apis[1].call('GET', RECOVERIES, { headers: globex })).body).toMatchObject({ items: [] })
    const { body: audit } = await apis[0].call('GET', '/api/v1/audit?limit=1', { headers: acme })
    expect(audit).toMatchObject({ items: [{ action: 'backfill.started', on: { recoveryId } }] })
  })

  test('says in a preview how many events it cannot judge, and sends none of them', async () => {
    const subscription = await subscribe()
    const subscriptionIds = Array.from({ length: 121 }, newSubscriptionId)
    await journal().append([loggedEvent({ eventType: 'agent.status', dataJson: '{}', subscriptionIds })])
    const asked = { from: FROM, eventTypes: ['agent.status'] }
    const counted = await previewBackfill(subscription, asked)
    expect(counted.body).toMatchObject({ count: 0, withoutBody: 0, unknown: 1, oldest: null })
    const begun = await backfill(subscription, asked)
    expect(begun.body).toMatchObject({ found: 0 })
    expect(await until((begun.body as RecoveryView).recoveryId, 'done')).toMatchObject({ sent: 0 })
    expect(due).toEqual([])
  })

  test('of a subscription to all types takes those that a later version has added', async () => {
    await journal().append([loggedEvent({ eventType: 'agent.status', dataJson: '{}' })])
    const countOf = async (eventTypes: readonly SubscribedType[]) => {
      const { id } = await createSubscriptionStore(redis, unverified, {}).create(aSubscription({ eventTypes }))
      return ((await previewBackfill(id, { from: FROM })).body as { count: number }).count
    }
    expect(await countOf(['call.status', '*'])).toBe((await countOf(['call.status'])) + 1)
  })

  test('without a begin, with an empty window or with an unknown field answers 400', async () => {
    const subscription = await subscribe()
    for (const json of [{}, { from: FROM, to: FROM }, { from: FROM, dryRun: true }, { from: FROM, eventTypes: [] }]) {
      expect(await backfill(subscription, json)).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
    }
    expect((await backfill(subscription, { from: FROM }, globex)).status).toBe(404)
    expect((await apis[0].call('GET', `${RECOVERIES}?cursor=abc`, { headers: acme })).status).toBe(400)
  })
})
