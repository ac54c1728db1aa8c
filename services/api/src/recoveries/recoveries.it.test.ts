import { randomUUID } from 'node:crypto'
import {
  type Attempt,
  type Delivery,
  type DeliveryId,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type ParkedReason,
  parseRecoveryId,
  type RecoveryId,
  type Signing,
  type SubscriptionId,
  Unavailable,
} from '@switchhook/contracts'
import { createMetrics, type Metrics } from '@switchhook/runtime'
import {
  createBreakerStore,
  createDeliveryArchive,
  createDeliveryStore,
  createParkedWindow,
  createStateStore,
  createSubscriptionStore,
  type DeliveryStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { eventually, type TestRedis, testRedis } from '@switchhook/testkit'
import type { Writing } from '../state/transact.ts'
import type { RecoveryDriver } from './drive-recovery.ts'
import { createRecoveries } from './recoveries-feature.ts'
import { newRecovery, type Recovery, rangeOf, type Selection } from './recovery.ts'
import type { RecoveryBook } from './recovery-book.ts'
import { createRecoveryMeter, type RecoveryMeter } from './recovery-meter.ts'
import { createRecoveryRoutes } from './recovery-routes.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const retention = { settledRetentionMs: 3_600_000, waitingRetentionMs: 3_600_000, parkedRetentionMs: 3_600_000 }
const URL = 'https://client.example/repaired'
const SIGNING: Signing = { id: randomUUID(), secret: 'sealed', since: new Date().toISOString(), former: [] }

type Publish = (delivery: Delivery) => Promise<void>

interface Replica {
  readonly book: RecoveryBook
  readonly driver: RecoveryDriver
  publish: Publish
}

let server: TestRedis
let connections: readonly [Redis, Redis]
let store: DeliveryStore
let tenant: string
let subscriptionId: SubscriptionId
let replicas: readonly [Replica, Replica]
/** What the broker has taken, in its order. */
let published: Delivery[]
/** The timer that is set, as there is only one recovery. */
let timer: NonNullable<Writing['timers']>[number] | undefined
let nowMs: number
/** As configured. */
let mostPerSecond: number
/** Of both replicas. */
let metrics: Metrics
let meter: RecoveryMeter

beforeAll(async () => {
  server = await testRedis()
  const open = (name: string): Promise<Redis> => openRedis({ url: server.redisUrl, log: quiet, name })
  connections = [await open('one replica'), await open('another replica')]
  store = createDeliveryStore(connections[0], retention)
})

afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()))
  await server.close()
})

beforeEach(async () => {
  tenant = randomUUID()
  subscriptionId = newSubscriptionId()
  published = []
  timer = undefined
  nowMs = Date.now()
  mostPerSecond = 50
  metrics = createMetrics('api')
  meter = createRecoveryMeter(metrics)
  await createSubscriptionStore(connections[0]).create({
    id: subscriptionId,
    tenant,
    url: URL,
    eventTypes: ['call.status'],
    description: null,
    enabled: true,
    createdAt: new Date().toISOString(),
    signing: SIGNING,
  })
  replicas = [openReplica(connections[0]), openReplica(connections[1])]
})

function openReplica(redis: Redis): Replica {
  const replica: { publish: Publish } = { publish: async (delivery) => void published.push(delivery) }
  const { book, driver } = createRecoveries({
    store: createStateStore(redis),
    committed: ({ timers = [] }) => (timer = timers[0] ?? timer),
    look: (endpoint) => breaker().look(endpoint),
    parked: createParkedWindow(redis),
    deliveries: createDeliveryArchive(redis),
    publish: (delivery) => replica.publish(delivery),
    mostPerSecond,
    now: () => nowMs,
    meter,
    log: quiet,
  })
  return Object.assign(replica, { book, driver })
}

const breaker = () => createBreakerStore(connections[0], { failures: 2, cooldownMs: 60_000 })
const subscriptions = () => createSubscriptionStore(connections[0])

const attemptOf = ({ run, slot, attempt }: Delivery, more: Partial<Attempt>): Attempt => ({
  run,
  slot,
  attempt: attempt + 1,
  at: new Date().toISOString(),
  durationMs: 1,
  outcome: 'answered',
  status: 400,
  ...more,
})

async function park(reason: ParkedReason = 'exhausted'): Promise<DeliveryId> {
  const eventId = newEventId()
  const deliveryId = deliveryIdOf(eventId, subscriptionId)
  const delivery: Delivery = {
    deliveryId,
    subscriptionId,
    eventId,
    eventType: 'call.status',
    tenant,
    url: 'https://client.example/broken',
    run: 1,
    slot: 0,
    attempt: 0,
    firstDueAt: new Date().toISOString(),
    body: Buffer.from('{}'),
  }
  await store.park(delivery, attemptOf(delivery, {}), reason)
  return deliveryId
}

const parkSome = (count: number): Promise<DeliveryId[]> => Promise.all(Array.from({ length: count }, () => park()))

const ALL: Selection = { from: null, to: null, reason: null }

/** As the route begins it. */
async function begin(selection = ALL, maxPerSecond: number | null = null, id = randomUUID()): Promise<RecoveryId> {
  const parked = createParkedWindow(connections[0])
  const newest = await parked.newest(subscriptionId)
  const range = rangeOf(selection, newest)
  const { count: found } = await parked.count(subscriptionId, range)
  const { after, until } = range
  const recoveryId = parseRecoveryId(id)
  const fixed = { recoveryId, subscriptionId, selection, maxPerSecond, found, failed: 0, after, until, newest }
  const recovery = newRecovery(fixed, nowMs)
  return (await replicas[0].book.begin(tenant, recovery)).recoveryId
}

const read = async (id: RecoveryId): Promise<Recovery> => {
  const found = await replicas[1].book.find(tenant, id)
  if (found === undefined) throw new Error('there is no such recovery')
  return found
}

/** The timer that is set falls due at this replica, which carries the turn out. */
async function turn(replica: Replica = replicas[0]): Promise<void> {
  const due = timer
  timer = undefined
  if (due === undefined) throw new Error('no timer is set')
  nowMs += due.dueInMs
  await replica.driver.timerDue({ tenant, payload: due.payload })
  await replica.driver.idle()
}

/** As a worker does it: the endpoint acknowledges. */
const acknowledge = (delivery: Delivery): Promise<void> =>
  store.settle(delivery, attemptOf(delivery, { outcome: 'delivered', status: 204 }), { state: 'acknowledged' })

const acknowledging: Publish = async (delivery) => {
  published.push(delivery)
  await acknowledge(delivery)
}

async function turnsUntil(id: RecoveryId, state: Recovery['state']): Promise<Recovery> {
  for (let turns = 0; turns < 500; turns++) {
    const recovery = await read(id)
    if (recovery.state === state) return recovery
    await turn(replicas[turns % 2 === 0 ? 0 : 1])
  }
  throw new Error(`it is not ${state}`)
}

/** What the metrics say. */
async function counted(): Promise<Record<string, number>> {
  const samples = (await metrics.text()).matchAll(/^switchhook_recover\w+\{\w+="(\w+)",service="api"\} (\d+)$/gm)
  return Object.fromEntries([...samples].map(([, name = '', value]) => [name, Number(value)]))
}

const isParked = async (id: DeliveryId): Promise<boolean> =>
  (await createDeliveryArchive(connections[0]).parked(subscriptionId, { limit: 100 })).items.some(
    ({ deliveryId }) => deliveryId === id,
  )

/** A publish that does not come back before it is told to. */
function hanging(then: Publish): { publish: Publish; letGo: () => void; begun: Delivery[] } {
  const begun: Delivery[] = []
  let letGo = (): void => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  return {
    begun,
    letGo: () => letGo(),
    publish: async (delivery) => {
      begun.push(delivery)
      await gate
      await then(delivery)
    },
  }
}

test('sends all that was parked when it began, the oldest first, to the present url, each in one run', async () => {
  const parked: DeliveryId[] = []
  for (let i = 0; i < 120; i++) parked.push(await park())
  for (const replica of replicas) replica.publish = acknowledging
  const startedMs = nowMs
  const recovery = await turnsUntil(await begin(), 'done')
  expect(recovery).toMatchObject({ found: 120, sent: 120, skipped: 0, failed: 0, inHand: null, waitingFor: null })
  expect(recovery.endedAt).not.toBeNull()
  // Within a handful they go at the same time.
  expect(new Set(published.slice(0, 7).map(({ deliveryId }) => deliveryId))).toEqual(new Set(parked.slice(0, 7)))
  expect(published.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(parked.toSorted())
  for (const { run, slot, attempt, url } of published) expect([run, slot, attempt, url]).toEqual([2, 0, 1, URL])
  // 3 at 1/s, 6 at 2/s, 12, 24, 48 …
  expect(nowMs - startedMs).toBeGreaterThan(13_000)
  // The lease of the last turn is over later, and there is nothing to take over.
  await turn()
  expect(published).toHaveLength(120)
})

test('what it parks again itself, and what is parked meanwhile, it leaves alone', async () => {
  await parkSome(4)
  const id = await begin()
  for (const replica of replicas) {
    replica.publish = async (delivery) => {
      published.push(delivery)
      await store.park(delivery, attemptOf(delivery, {}), 'rejected')
      await park()
    }
  }
  expect(await turnsUntil(id, 'done')).toMatchObject({ found: 4, sent: 4, skipped: 0 })
  expect(published).toHaveLength(4)
  expect(new Set(published.map(({ deliveryId }) => deliveryId)).size).toBe(4)
})

test('of two replicas with the same timer, one takes the turn', async () => {
  await parkSome(3)
  const id = await begin()
  const payload = timer?.payload
  await Promise.all(replicas.map(({ driver }) => driver.timerDue({ tenant, payload })))
  await Promise.all(replicas.map(({ driver }) => driver.idle()))
  expect(published).toHaveLength(1)
  expect(await read(id)).toMatchObject({ sent: 1, state: 'running' })
  // Nor does a timer that comes late do anything.
  await replicas[1].driver.timerDue({ tenant, payload })
  await replicas[1].driver.idle()
  expect(published).toHaveLength(1)
})

test('a replica that dies between beginning a run and publishing it is followed by another, with the same run', async () => {
  await parkSome(2)
  const id = await begin()
  const dead = hanging(acknowledging)
  replicas[0].publish = dead.publish
  const lost = turn(replicas[0])
  await eventually(() => expect(dead.begun).toHaveLength(1))
  const [begun] = dead.begun
  expect(begun && (await isParked(begun.deliveryId))).toBe(true)
  // The lease is over.
  await turn(replicas[1])
  expect(published).toMatchObject([{ deliveryId: begun?.deliveryId, run: 2 }])
  expect(await read(id)).toMatchObject({ sent: 1 })
  // It was not dead after all: at worst the same run comes twice, and it is counted once.
  dead.letGo()
  await lost
  replicas[0].publish = acknowledging
  expect(await turnsUntil(id, 'done')).toMatchObject({ found: 2, sent: 2, skipped: 0 })
  expect(new Set(published.map(({ run }) => run))).toEqual(new Set([2]))
})

test.each<[string, Publish, number]>([
  ['and before a worker had it, it is published once more as the same run', async () => {}, 2],
  ['and the worker was faster, it is not sent again', acknowledge, 1],
  [
    'and it is parked again already, it is not sent again',
    (delivery) => store.park(delivery, attemptOf(delivery, {}), 'rejected'),
    1,
  ],
])('when a replica dies after publishing, before it could note it, %s', async (_name, worker, times) => {
  await park()
  const id = await begin()
  replicas[0].publish = async (delivery) => {
    published.push(delivery)
    await worker(delivery)
    throw new Unavailable('redis', 'as if the process had ended here')
  }
  await turn(replicas[0])
  expect(await read(id)).toMatchObject({ sent: 0, isSending: true })
  await turn(replicas[1])
  expect(await read(id)).toMatchObject({ state: 'done', found: 1, sent: 1, skipped: 0 })
  expect(published.map(({ run }) => run)).toEqual(Array.from({ length: times }, () => 2))
})

test('what somebody else has sent again meanwhile is skipped', async () => {
  await park()
  const other = await park()
  const id = await begin()
  const archive = createDeliveryArchive(connections[0])
  const begun = await archive.beginRedelivery(other, { sender: 'a' })
  if (begun.kind === 'begun') await archive.redeliverySent(begun.record)
  expect(await turnsUntil(id, 'done')).toMatchObject({ found: 2, sent: 1, skipped: 1, failed: 0 })
  expect(await counted()).toEqual({ sent: 1, skipped: 1, failed: 0, done: 1, cancelled: 0 })
})

test('while the broker is away it waits, and loses and counts nothing', async () => {
  await parkSome(3)
  const id = await begin()
  const away = async (): Promise<void> => Promise.reject(new Unavailable('rabbitmq', 'away'))
  replicas[0].publish = away
  await turn()
  await turn()
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'broker', sent: 0, failed: 0 })
  replicas[0].publish = acknowledging
  await turn()
  expect(await read(id)).toMatchObject({ waitingFor: null, sent: 1 })
  expect(await turnsUntil(id, 'done')).toMatchObject({ found: 3, sent: 3 })
})

test('while the broker is away, a recovery holds no lease: a request can send a delivery at once, and the recovery goes on as itself', async () => {
  const parked = await parkSome(2)
  const id = await begin()
  const tried: Delivery[] = []
  replicas[0].publish = async (delivery) => {
    tried.push(delivery)
    throw new Unavailable('rabbitmq', 'away')
  }
  await turn()
  const [{ deliveryId: first }] = tried as [Delivery]
  expect(parked).toContain(first)
  const archive = createDeliveryArchive(connections[0])
  const begun = await archive.beginRedelivery(first, { sender: 'a request', parkedRun: 1 })
  expect(begun).toMatchObject({ kind: 'begun', record: { run: 2 } })
  // The request has sent it, so the recovery leaves it alone and counts it as sent.
  if (begun.kind === 'begun') await archive.redeliverySent(begun.record)
  replicas[0].publish = acknowledging
  await turn()
  expect(await turnsUntil(id, 'done')).toMatchObject({ found: 2, sent: 2, failed: 0 })
  expect(published.map(({ deliveryId }) => deliveryId)).not.toContain(first)
})

test('one that can never be sent keeps nobody else from being sent', async () => {
  await parkSome(3)
  const id = await begin()
  for (const replica of replicas) {
    replica.publish = async (delivery) => {
      if (published.length === 0) {
        published.push(delivery)
        throw new TypeError('what is stored of it makes no sense')
      }
      await acknowledging(delivery)
    }
  }
  expect(await turnsUntil(id, 'done')).toMatchObject({ found: 3, sent: 2, failed: 1, skipped: 0 })
  expect(await counted()).toEqual({ sent: 2, skipped: 0, failed: 1, done: 1, cancelled: 0 })
})

test('a disabled subscription pauses it, a deleted one ends it', async () => {
  const parked = await parkSome(3)
  const id = await begin()
  await subscriptions().change(tenant, subscriptionId, { enabled: false })
  await turn()
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-enabled' })
  await subscriptions().change(tenant, subscriptionId, { enabled: true })
  await turn()
  expect(await read(id)).toMatchObject({ waitingFor: null, sent: 1 })
  await subscriptions().remove(tenant, subscriptionId)
  expect(await turnsUntil(id, 'cancelled')).toMatchObject({ cancelledBecause: 'subscription-deleted', sent: 1 })
  expect(timer).toBeUndefined()
  expect((await Promise.all(parked.map(isParked))).filter(Boolean)).toHaveLength(2)
})

test('what it sends is signed as its subscription signs, which may be gone before the first retry', async () => {
  await parkSome(1)
  await turnsUntil(await begin(), 'done')
  expect(published).toMatchObject([{ url: URL, signing: SIGNING }])
})

test('while a subscription stays disabled it is looked at ever more rarely, and once it is enabled from the beginning', async () => {
  await parkSome(2)
  const id = await begin()
  const enable = (enabled: boolean) => subscriptions().change(tenant, subscriptionId, { enabled })
  const waits = async (turns: number): Promise<number[]> => {
    const waited: number[] = []
    for (; waited.length < turns; waited.push(timer?.dueInMs ?? 0)) await turn()
    return waited
  }
  await enable(false)
  expect(await waits(8)).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  await enable(true)
  await turn()
  await enable(false)
  expect(await waits(3)).toEqual([2_000, 3_000, 6_000])
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-enabled', sent: 1 })
})

test('one that is held for 30 days ends, and what it has not sent stays parked', async () => {
  const DAYS_MS = 24 * 3_600_000
  const parked = await parkSome(2)
  const id = await begin()
  await turn()
  await subscriptions().change(tenant, subscriptionId, { enabled: false })
  nowMs += 30 * DAYS_MS - 10_000
  await turn()
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-enabled' })
  await turn()
  expect(await read(id)).toMatchObject({ state: 'cancelled', cancelledBecause: 'no-progress', sent: 1 })
  expect(timer).toBeUndefined()
  expect((await Promise.all(parked.map(isParked))).filter(Boolean)).toHaveLength(1)
})

test('a cool-down of the endpoint holds it', async () => {
  await parkSome(2)
  const id = await begin()
  const endpoint = { tenant, subscriptionId }
  await breaker().noteFailure(endpoint, undefined)
  await breaker().noteFailure(endpoint, undefined)
  await turn()
  expect(await read(id)).toMatchObject({ waitingFor: 'endpoint-cooling-down', sent: 0 })
  await breaker().noteAnswer(endpoint)
  expect(await turnsUntil(id, 'done')).toMatchObject({ sent: 2 })
})

test('answers that do not come hold it, and when they come it goes on', async () => {
  await parkSome(12)
  const id = await begin()
  for (let turns = 0; turns < 8; turns++) await turn()
  const held = await read(id)
  expect(held).toMatchObject({ waitingFor: 'endpoint-answers', sent: 3 })
  for (const delivery of published) await acknowledge(delivery)
  for (const replica of replicas) replica.publish = acknowledging
  expect(await turnsUntil(id, 'done')).toMatchObject({ sent: 12 })
})

test('a client may ask for a slower pace', async () => {
  await parkSome(10)
  for (const replica of replicas) replica.publish = acknowledging
  const startedMs = nowMs
  await turnsUntil(await begin(ALL, 1), 'done')
  expect(nowMs - startedMs).toBeGreaterThanOrEqual(9_000)
})

test('only what is selected is sent: by time, and by reason', async () => {
  const early = await park()
  const archive = createDeliveryArchive(connections[0])
  const fromMs = Date.parse((await archive.find(early))?.parkedAt ?? '') + 1
  await eventually(() => expect(Date.now()).toBeGreaterThan(fromMs))
  await park('rejected')
  const wanted = await park()
  const from = new Date(fromMs).toISOString()
  const parkedAt = (await archive.find(wanted))?.parkedAt ?? ''
  const to = new Date(Date.parse(parkedAt) + 1).toISOString()
  await eventually(() => expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(to)))
  await park()
  const parked = createParkedWindow(connections[0])
  // A window does not hold its end, as in the lists.
  const before = rangeOf({ from, to: parkedAt, reason: 'exhausted' }, await parked.newest(subscriptionId))
  expect(await parked.count(subscriptionId, before)).toMatchObject({ count: 0 })
  const recovery = await turnsUntil(await begin({ from, to, reason: 'exhausted' }), 'done')
  expect(recovery).toMatchObject({ found: 1, sent: 1, skipped: 0 })
  expect(published.map(({ deliveryId }) => deliveryId)).toEqual([wanted])
})

test('nothing that is parked: it is done at once', async () => {
  expect(await turnsUntil(await begin(), 'done')).toMatchObject({ found: 0, sent: 0, skipped: 0 })
  expect(published).toEqual([])
})

describe('cancelling', () => {
  test('at once sends nothing at all', async () => {
    await parkSome(2)
    const id = await begin()
    const due = timer
    expect(await replicas[1].book.cancel(tenant, id)).toMatchObject({ state: 'cancelled', sent: 0 })
    await replicas[0].driver.timerDue({ tenant, payload: due?.payload })
    await replicas[0].driver.idle()
    expect(published).toEqual([])
    const again = await replicas[0].book.cancel(tenant, id)
    expect(again).toMatchObject({ state: 'cancelled', cancelledBecause: 'requested' })
  })

  test('waits until what is in hand is put down; nothing is sent afterwards, and the rest stays parked', async () => {
    mostPerSecond = 1_000
    replicas = [openReplica(connections[0]), openReplica(connections[1])]
    const parked = await parkSome(500)
    for (const replica of replicas) replica.publish = acknowledging
    const id = await begin()
    // Until a turn takes more than a handful.
    while ((await read(id)).pace.perSecond < 128) await turn()
    const sentBefore = published.length
    const slow = hanging(acknowledging)
    replicas[0].publish = slow.publish
    const turning = turn(replicas[0])
    await eventually(() => expect(slow.begun).toHaveLength(10))
    const cancelling = replicas[1].book.cancel(tenant, id)
    await eventually(async () => expect((await read(id)).state).toBe('cancelled'))
    expect((await read(id)).isSending).toBe(true)
    slow.letGo()
    const cancelled = await cancelling
    const sent = sentBefore + 10
    expect(cancelled).toMatchObject({ state: 'cancelled', isSending: false, sent, inHand: null })
    expect(await counted()).toEqual({ sent, skipped: 0, failed: 0, done: 0, cancelled: 1 })
    await turning
    expect(published).toHaveLength(sent)
    const { count } = await createParkedWindow(connections[0]).count(subscriptionId, rangeOf(ALL, '9000000000000000'))
    expect(count).toBe(parked.length - sent)
  })
})

test('cancelled while the replica that had the turn is dead, it is put down when the lease is over', async () => {
  await park()
  const id = await begin()
  const dead = hanging(async () => {})
  replicas[0].publish = dead.publish
  const lost = turn(replicas[0])
  await eventually(() => expect(dead.begun).toHaveLength(1))
  const cancelling = replicas[1].book.cancel(tenant, id)
  await eventually(async () => expect((await read(id)).state).toBe('cancelled'))
  await turn(replicas[1])
  expect(await cancelling).toMatchObject({ state: 'cancelled', isSending: false, inHand: null, sent: 0 })
  dead.letGo()
  await lost
  expect(await read(id)).toMatchObject({ state: 'cancelled', sent: 0 })
})

describe('beginning', () => {
  test('the same again while it runs answers the running one; another window, reason or pace is refused', async () => {
    await parkSome(2)
    const id = await begin(ALL, 5)
    expect(await begin(ALL, 5)).toBe(id)
    const refused = async (detail: string, ...asked: Parameters<typeof begin>): Promise<void> => {
      const extra = { detail: expect.stringContaining(detail) }
      await expect(begin(...asked)).rejects.toMatchObject({ code: 'recovery-in-progress', extra })
    }
    await refused('another window', { ...ALL, from: '2026-11-20T17:00:00.000Z' }, 5)
    await refused('another reason', { ...ALL, reason: 'rejected' }, 5)
    await refused('maxPerSecond 5', ALL, 50)
    await refused('maxPerSecond 5', ALL, null)
    await turnsUntil(id, 'done')
    expect(await begin()).not.toBe(id)
    expect((await replicas[0].book.list(tenant, subscriptionId)).map(({ state }) => state)).toEqual(['running', 'done'])
  })

  test('the same again, or another window, while it runs: nothing is counted; dry runs share one count', async () => {
    await parkSome(2)
    const parked = createParkedWindow(connections[0])
    let counts = 0
    const count: typeof parked.count = (id, range) => {
      counts++
      return parked.count(id, range)
    }
    const [route] = createRecoveryRoutes({
      subscriptions: subscriptions(),
      recoveries: replicas[0].book,
      parked: { ...parked, count },
      parkedCount: async () => ({ count: 2, withoutBody: 0, dropped: 0, bodiesUntil: '0' }),
      now: () => nowMs,
    })
    const recover = (body: object, id = randomUUID()) =>
      route?.handle({
        caller: { tenant, clientId: 'crm' },
        params: { id: subscriptionId },
        query: undefined,
        body,
        requestId: randomUUID(),
        idFor: () => id,
        isKeyed: false,
      })
    const id = randomUUID()
    const first = await recover({}, id)
    expect(first).toMatchObject({ status: 202, isUnchanged: false })
    expect(await recover({})).toEqual({ ...first, isUnchanged: true })
    // Carried out again after a crash, when nothing was entered in the audit log yet.
    expect(await recover({}, id)).toEqual(first)
    await expect(recover({ reason: 'exhausted' })).rejects.toMatchObject({ code: 'recovery-in-progress' })
    expect(counts).toBe(1)
    // On one connection they keep step with each other, so the second asks while the first is being counted.
    for (const answer of await Promise.all([recover({ dryRun: true }), recover({ dryRun: true })])) {
      expect(answer).toMatchObject({ status: 200, body: { count: 2 } })
    }
    expect(counts).toBe(2)
  })

  test('twice at the same instant begins one', async () => {
    await parkSome(2)
    const ids = await Promise.all(Array.from({ length: 5 }, () => begin()))
    expect(new Set(ids).size).toBe(1)
  })

  test('of a request that is carried out again is the same recovery, even if that has ended', async () => {
    await park()
    const key = randomUUID()
    const id = await begin(ALL, null, key)
    await turnsUntil(id, 'done')
    expect(await begin({ ...ALL, reason: 'rejected' }, null, key)).toBe(id)
    expect(await read(id)).toMatchObject({ state: 'done', sent: 1 })
  })

  test('again and again, the last fifty are remembered', async () => {
    const ids: RecoveryId[] = []
    for (let i = 0; i < 52; i++) {
      const id = await begin()
      ids.unshift(id)
      await replicas[0].book.cancel(tenant, id)
    }
    const listed = await replicas[0].book.list(tenant, subscriptionId)
    expect(listed.map(({ recoveryId }) => recoveryId)).toEqual(ids.slice(0, 50))
    await eventually(async () => {
      for (const id of ids.slice(50)) expect(await replicas[0].book.find(tenant, id)).toBeUndefined()
    })
  })

  test('of another tenant, it does not exist', async () => {
    const id = await begin()
    expect(await replicas[0].book.find('another', id)).toBeUndefined()
    expect(await replicas[0].book.cancel('another', id)).toBeUndefined()
    expect(await read(id)).toMatchObject({ state: 'running' })
  })
})

test('one whose timer was lost goes on when somebody looks at it', async () => {
  await park()
  const id = await begin()
  timer = undefined
  nowMs += 89_000
  await read(id)
  expect(timer).toBeUndefined()
  nowMs += 1_000
  await read(id)
  expect(await turnsUntil(id, 'done')).toMatchObject({ sent: 1 })
})
