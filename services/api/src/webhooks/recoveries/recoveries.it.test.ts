import { randomUUID } from 'node:crypto'
import {
  type Delivery,
  type DeliveryId,
  deliveryIdOf,
  type EventType,
  newEventId,
  newSubscriptionId,
  newToken,
  type ParkedReason,
  parseRecoveryId,
  type RecoveryId,
  type Signing,
  type Subscription,
  type SubscriptionId,
  Unavailable,
} from '@switchhook/contracts'
import { createMetrics, type Metrics } from '@switchhook/runtime'
import { attemptOf, loggedEvent, newDelivery } from '@switchhook/servicekit'
import {
  createBreakerStore,
  createDeliveryArchive,
  createDeliveryStore,
  createJournal,
  createJournalReader,
  createParkedCounter,
  createParkedWindow,
  createRejectionStore,
  createStateStore,
  createSubscriptionStore,
  type DeliveryStore,
  type LoggedEvent,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { aSubscription, eventually, silentLog, UNLIMITED, unscheduled, unverified, useRedis } from '@switchhook/testkit'
import { announceTimers } from '../../state/timer-loop.ts'
import { createTransact, type Writing } from '../../state/transact.ts'
import { boundRoute } from '../../testing/bound-route.ts'
import { countRecovery } from './begin-recovery.ts'
import { createRecoveries } from './recoveries-feature.ts'
import { newRecovery, type Recovery, type Selection } from './recovery.ts'
import { createRecoveryBook, type RecoveryBook } from './recovery-book.ts'
import { createRecoveryMeter, type RecoveryMeter } from './recovery-meter.ts'
import { recoveryRoutes } from './recovery-routes.ts'

const retention = { finishedRetentionMs: 3_600_000, parkedRetentionMs: 3_600_000, scheduleOf: unscheduled }
const URL = 'https://client.example/repaired'
const SIGNING: Signing = { id: randomUUID(), secret: 'sealed', since: new Date().toISOString(), former: [] }

type Publish = (delivery: Delivery) => Promise<void>

interface Replica {
  readonly book: RecoveryBook
  readonly driver: ReturnType<typeof createRecoveries>['driver']
  publish: Publish
}

let connections: readonly [Redis, Redis]
let store: DeliveryStore
let tenant: string
let subscriptionId: SubscriptionId
let replicas: readonly [Replica, Replica]
/** The messages that the broker accepted, in order. */
let published: Delivery[]
/** The last timer that was set. There is only one recovery. */
let timer: NonNullable<Writing['timers']>[number] | undefined
let nowMs: number
/** Shared by both replicas. */
let metrics: Metrics
let meter: RecoveryMeter

useRedis(openRedis, ({ redis: one, other }) => {
  connections = [one, other]
  store = createDeliveryStore(connections[0], retention, UNLIMITED, unverified)
})

beforeEach(async () => {
  tenant = randomUUID()
  subscriptionId = newSubscriptionId()
  published = []
  timer = undefined
  nowMs = Date.now()
  metrics = createMetrics('api')
  meter = createRecoveryMeter(metrics)
  const createdAt = new Date().toISOString()
  await subscriptions().create(aSubscription({ id: subscriptionId, tenant, url: URL, createdAt, signing: SIGNING }))
  replicas = [openReplica(connections[0]), openReplica(connections[1])]
})

function openReplica(redis: Redis): Replica {
  const replica: { publish: Publish } = { publish: async (delivery) => void published.push(delivery) }
  const { book, driver } = createRecoveries({
    store: announceTimers(createStateStore(redis), (timers) => (timer = timers[0] ?? timer)),
    readEndpoint: (endpoint) => breaker().readEndpoint(endpoint),
    parked: createParkedWindow(redis),
    rejections: createRejectionStore(redis),
    deliveries: createDeliveryArchive(redis),
    journal: createJournalReader(redis, JOURNAL),
    publish: (delivery) => replica.publish(delivery),
    mostPerSecond: 50,
    now: () => nowMs,
    meter,
    log: silentLog,
  })
  return Object.assign(replica, { book, driver })
}

const JOURNAL = { size: 100, retentionMs: 60_000, deliveryRetentionMs: 60_000 }

/** Journals events as fan-out does. */
async function happen(...changes: readonly Partial<LoggedEvent>[]): Promise<LoggedEvent[]> {
  const events = changes.map((change) => loggedEvent({ tenant, dataJson: '{"callId":"c-1"}', ...change }))
  await createJournal(connections[0], JOURNAL).append(events)
  return events
}

/** Begins a backfill as the route does. */
async function beginBackfill(eventTypes: readonly EventType[] = ['call.status']): Promise<RecoveryId> {
  return begin({ ...ALL, eventTypes }, null, undefined, { kind: 'backfill' })
}

const breaker = () => createBreakerStore(connections[0], { failures: 2, cooldownMs: 60_000 })
const subscriptions = () => createSubscriptionStore(connections[0], unverified, {})

async function park(reason: ParkedReason = 'exhausted'): Promise<DeliveryId> {
  const delivery = newDelivery(subscriptionId, { tenant, url: 'https://client.example/broken' })
  await store.park(delivery, attemptOf(delivery), reason)
  return delivery.deliveryId
}

const parkSome = (count: number): Promise<DeliveryId[]> => Promise.all(Array.from({ length: count }, () => park()))

const ALL: Selection = { from: null, to: null, reason: null, eventTypes: null }

/** Begins a recovery as the route does. */
async function begin(
  selection = ALL,
  maxPerSecond: number | null = null,
  id = randomUUID(),
  by: Partial<Pick<Recovery, 'kind' | 'startedBy'>> = {},
): Promise<RecoveryId> {
  const asked = { kind: 'recovery', startedBy: 'request', ...by, selection } as const
  const { counted } = await count(asked)
  const ids = { recoveryId: parseRecoveryId(id), subscriptionId }
  const recovery = newRecovery({ ...ids, ...asked, ...counted, maxPerSecond }, nowMs)
  return (await replicas[0].book.begin(tenant, recovery)).recoveryId
}

async function count(asked: Pick<Recovery, 'kind' | 'startedBy' | 'selection'>) {
  const subscription = await subscriptions().find(tenant, subscriptionId)
  const [redis] = connections
  const parts = { journal: createJournalReader(redis, JOURNAL), parkedCounts: createParkedCounter(redis) }
  const known = subscription ?? aSubscription({ id: subscriptionId, tenant })
  return countRecovery({ ...parts, parked: createParkedWindow(redis) }, known, asked)
}

const read = async (id: RecoveryId): Promise<Recovery> => {
  const found = await replicas[1].book.find(tenant, id)
  if (found === undefined) throw new Error('there is no such recovery')
  return found
}

/** Lets the timer fall due at this replica, which runs the step. */
async function step(replica: Replica = replicas[0]): Promise<void> {
  const due = timer
  timer = undefined
  if (due === undefined) throw new Error('no timer is set')
  nowMs += due.dueInMs
  await replica.driver.timerDue({ tenant, payload: due.payload })
  await replica.driver.idle()
}

/** Settles a delivery as a worker does after an acknowledgement. */
async function acknowledge(delivery: Delivery): Promise<void> {
  const attempt = attemptOf(delivery, { outcome: 'delivered', status: 204 })
  await store.settle(delivery, attempt, { state: 'acknowledged' })
}

const acknowledging: Publish = async (delivery) => {
  published.push(delivery)
  await acknowledge(delivery)
}

async function stepsUntil(id: RecoveryId, state: Recovery['state']): Promise<Recovery> {
  for (let steps = 0; steps < 500; steps++) {
    const recovery = await read(id)
    if (recovery.state === state) return recovery
    await step(replicas[steps % 2 === 0 ? 0 : 1])
  }
  throw new Error(`it is not ${state}`)
}

/** The counters of recoveries, by label. */
async function counted(): Promise<Record<string, number>> {
  const samples = (await metrics.text()).matchAll(/^switchhook_recover\w+\{\w+="(\w+)",service="api"\} (\d+)$/gm)
  return Object.fromEntries([...samples].map(([, name = '', value]) => [name, Number(value)]))
}

const isParked = async (id: DeliveryId): Promise<boolean> =>
  (await createDeliveryArchive(connections[0]).find(id))?.state === 'parked'

/** A publish that does not resolve before `letGo` is called. */
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

test('sends everything parked when it began, the oldest first, to the current url, each in one run', async () => {
  const parked: DeliveryId[] = []
  for (let i = 0; i < 120; i++) parked.push(await park())
  for (const replica of replicas) replica.publish = acknowledging
  const startedMs = nowMs
  const recovery = await stepsUntil(await begin(), 'done')
  expect(recovery).toMatchObject({ found: 120, sent: 120, skipped: 0, failed: 0, batch: [], waitingFor: null })
  expect(recovery.endedAt).not.toBeNull()
  // Within a step, deliveries are sent concurrently.
  expect(new Set(published.slice(0, 7).map(({ deliveryId }) => deliveryId))).toEqual(new Set(parked.slice(0, 7)))
  expect(published.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(parked.toSorted())
  for (const { run, slot, attempt, url } of published) expect([run, slot, attempt, url]).toEqual([2, 0, 1, URL])
  // 3 at 1/s, 6 at 2/s, 12, 24, 48 …
  expect(nowMs - startedMs).toBeGreaterThan(13_000)
  // The lease timer of the last step is due later and finds nothing to do.
  await step()
  expect(published).toHaveLength(120)
})

test('does not send deliveries that are parked again or parked meanwhile', async () => {
  await parkSome(4)
  const id = await begin()
  for (const replica of replicas) {
    replica.publish = async (delivery) => {
      published.push(delivery)
      await store.park(delivery, attemptOf(delivery), 'rejected')
      await park()
    }
  }
  expect(await stepsUntil(id, 'done')).toMatchObject({ found: 4, sent: 4, skipped: 0 })
  expect(published).toHaveLength(4)
  expect(new Set(published.map(({ deliveryId }) => deliveryId)).size).toBe(4)
})

test('of two replicas with the same timer, one begins the step', async () => {
  await parkSome(3)
  const id = await begin()
  const payload = timer?.payload
  await Promise.all(replicas.map(({ driver }) => driver.timerDue({ tenant, payload })))
  await Promise.all(replicas.map(({ driver }) => driver.idle()))
  expect(published).toHaveLength(1)
  expect(await read(id)).toMatchObject({ sent: 1, state: 'running' })
  // A late timer does nothing either.
  await replicas[1].driver.timerDue({ tenant, payload })
  await replicas[1].driver.idle()
  expect(published).toHaveLength(1)
})

test('when a replica dies between beginning a run and publishing it, another publishes the same run', async () => {
  await parkSome(2)
  const id = await begin()
  const dead = hanging(acknowledging)
  replicas[0].publish = dead.publish
  const lost = step(replicas[0])
  await eventually(() => expect(dead.begun).toHaveLength(1))
  const [begun] = dead.begun
  expect(begun && (await isParked(begun.deliveryId))).toBe(true)
  // The lease ends.
  await step(replicas[1])
  expect(published).toMatchObject([{ deliveryId: begun?.deliveryId, run: 2 }])
  expect(await read(id)).toMatchObject({ sent: 1 })
  // The first replica was only slow: at worst the same run is published twice, and it is counted once.
  dead.letGo()
  await lost
  replicas[0].publish = acknowledging
  expect(await stepsUntil(id, 'done')).toMatchObject({ found: 2, sent: 2, skipped: 0 })
  expect(new Set(published.map(({ run }) => run))).toEqual(new Set([2]))
})

test.each<[string, Publish, number]>([
  ['and no worker has settled the run, the same run is published once more', async () => {}, 2],
  ['and a worker has acknowledged the run, it is not sent again', acknowledge, 1],
  [
    'and the run is parked again, it is not sent again',
    async (delivery) => void (await store.park(delivery, attemptOf(delivery), 'rejected')),
    1,
  ],
])('when a replica dies after publishing and before storing the result, %s', async (_name, worker, times) => {
  await park()
  const id = await begin()
  replicas[0].publish = async (delivery) => {
    published.push(delivery)
    await worker(delivery)
    throw new Unavailable('redis', 'as if the process had died here')
  }
  await step(replicas[0])
  expect(await read(id)).toMatchObject({ sent: 0, isSending: true })
  await step(replicas[1])
  expect(await read(id)).toMatchObject({ state: 'done', found: 1, sent: 1, skipped: 0 })
  expect(published.map(({ run }) => run)).toEqual(Array.from({ length: times }, () => 2))
})

test('a delivery that another sender has sent meanwhile is skipped', async () => {
  await park()
  const other = await park()
  const id = await begin()
  const archive = createDeliveryArchive(connections[0])
  const begun = await archive.beginRedelivery(other, { sender: 'a' })
  if (begun.kind === 'begun') await archive.redeliverySent(begun.record)
  expect(await stepsUntil(id, 'done')).toMatchObject({ found: 2, sent: 1, skipped: 1, failed: 0 })
  expect(await counted()).toEqual({ sent: 1, skipped: 1, failed: 0, done: 1, cancelled: 0 })
})

test('while the broker is away, the recovery waits, and loses and counts nothing', async () => {
  await parkSome(3)
  const id = await begin()
  const away = async (): Promise<void> => Promise.reject(new Unavailable('rabbitmq', 'away'))
  replicas[0].publish = away
  await step()
  await step()
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'broker', sent: 0, failed: 0 })
  replicas[0].publish = acknowledging
  await step()
  expect(await read(id)).toMatchObject({ waitingFor: null, sent: 1 })
  expect(await stepsUntil(id, 'done')).toMatchObject({ found: 3, sent: 3 })
})

test('while the broker is away, a recovery holds no lease: a request can send a delivery immediately, and the recovery continues', async () => {
  const parked = await parkSome(2)
  const id = await begin()
  const tried: Delivery[] = []
  replicas[0].publish = async (delivery) => {
    tried.push(delivery)
    throw new Unavailable('rabbitmq', 'away')
  }
  await step()
  const [{ deliveryId: first }] = tried as [Delivery]
  expect(parked).toContain(first)
  const archive = createDeliveryArchive(connections[0])
  const begun = await archive.beginRedelivery(first, { sender: 'a request', parkedRun: 1 })
  expect(begun).toMatchObject({ kind: 'begun', record: { run: 2 } })
  // The request has sent it, so the recovery does not send it and counts it as sent.
  if (begun.kind === 'begun') await archive.redeliverySent(begun.record)
  replicas[0].publish = acknowledging
  await step()
  expect(await stepsUntil(id, 'done')).toMatchObject({ found: 2, sent: 2, failed: 0 })
  expect(published.map(({ deliveryId }) => deliveryId)).not.toContain(first)
})

test('a delivery that can never be sent does not stop the others', async () => {
  await parkSome(3)
  const id = await begin()
  for (const replica of replicas) {
    replica.publish = async (delivery) => {
      if (published.length === 0) {
        published.push(delivery)
        throw new TypeError('the record is corrupt')
      }
      await acknowledging(delivery)
    }
  }
  expect(await stepsUntil(id, 'done')).toMatchObject({ found: 3, sent: 2, failed: 1, skipped: 0 })
  expect(await counted()).toEqual({ sent: 2, skipped: 0, failed: 1, done: 1, cancelled: 0 })
})

test('disabling the subscription pauses the recovery, deleting it ends the recovery', async () => {
  const parked = await parkSome(3)
  const id = await begin()
  await subscriptions().revise(tenant, subscriptionId, (present) => ({ ...present, enabled: false }))
  await step()
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-enabled' })
  await subscriptions().revise(tenant, subscriptionId, (present) => ({ ...present, enabled: true }))
  await step()
  expect(await read(id)).toMatchObject({ waitingFor: null, sent: 1 })
  await subscriptions().remove(tenant, subscriptionId)
  expect(await stepsUntil(id, 'cancelled')).toMatchObject({ cancelledBecause: 'subscription-deleted', sent: 1 })
  expect(timer).toBeUndefined()
  expect((await Promise.all(parked.map(isParked))).filter(Boolean)).toHaveLength(2)
})

test('a sent delivery carries the signing secret, because the subscription may be deleted before the first retry', async () => {
  await parkSome(1)
  await stepsUntil(await begin(), 'done')
  expect(published).toMatchObject([{ url: URL, signing: SIGNING }])
})

test('a subscription that stays disabled is checked less and less often; after it was enabled, the intervals start over', async () => {
  await parkSome(2)
  const id = await begin()
  const enable = (enabled: boolean) =>
    subscriptions().revise(tenant, subscriptionId, (present) => ({ ...present, enabled }))
  const waits = async (steps: number): Promise<number[]> => {
    const waited: number[] = []
    for (; waited.length < steps; waited.push(timer?.dueInMs ?? 0)) await step()
    return waited
  }
  await enable(false)
  expect(await waits(8)).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  await enable(true)
  await step()
  await enable(false)
  expect(await waits(3)).toEqual([2_000, 3_000, 6_000])
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-enabled', sent: 1 })
})

test('a recovery without progress for 30 days is cancelled, and the rest stays parked', async () => {
  const DAYS_MS = 24 * 3_600_000
  const parked = await parkSome(2)
  const id = await begin()
  await step()
  await subscriptions().revise(tenant, subscriptionId, (present) => ({ ...present, enabled: false }))
  nowMs += 30 * DAYS_MS - 10_000
  await step()
  expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-enabled' })
  await step()
  expect(await read(id)).toMatchObject({ state: 'cancelled', cancelledBecause: 'no-progress', sent: 1 })
  expect(timer).toBeUndefined()
  expect((await Promise.all(parked.map(isParked))).filter(Boolean)).toHaveLength(1)
})

test('a cool-down of the endpoint pauses the recovery', async () => {
  await parkSome(2)
  const id = await begin()
  const endpoint = { tenant, subscriptionId }
  await breaker().recordFailure(endpoint, undefined)
  await breaker().recordFailure(endpoint, undefined)
  await step()
  expect(await read(id)).toMatchObject({ waitingFor: 'endpoint-cooling-down', sent: 0 })
  await breaker().recordAnswer(endpoint)
  expect(await stepsUntil(id, 'done')).toMatchObject({ sent: 2 })
})

test('missing answers pause the recovery, and it resumes when they arrive', async () => {
  await parkSome(12)
  const id = await begin()
  for (let steps = 0; steps < 8; steps++) await step()
  const paused = await read(id)
  expect(paused).toMatchObject({ waitingFor: 'endpoint-answers', sent: 3 })
  for (const delivery of published) await acknowledge(delivery)
  for (const replica of replicas) replica.publish = acknowledging
  expect(await stepsUntil(id, 'done')).toMatchObject({ sent: 12 })
})

/** Stands in for workers that hold each delivery. */
async function holding(delivery: Delivery): Promise<void> {
  published.push(delivery)
  const next = { token: newToken(), postponed: 0 }
  await store.settle(delivery, null, { state: 'held', slot: 0, next, dueInMs: 0, visitInMs: 60_000 })
}

const PULL = { mode: 'pull', url: '' } as const

const change = (to: Partial<Subscription>) =>
  subscriptions().revise(tenant, subscriptionId, (present) => ({ ...present, ...to }))

test.each<[string, Partial<Subscription>, Partial<Recovery>]>([
  ['because of limits pause the recovery', { maxPerSecond: 1 }, { sent: 3, waitingFor: 'endpoint-answers' }],
  ['until clients receive them do not', PULL, { sent: 12, state: 'done' }],
  [
    'until clients of a paused subscription receive them do not',
    { ...PULL, paused: true },
    { sent: 12, state: 'done' },
  ],
])('deliveries that are held %s', async (_name, to, expected) => {
  await change(to)
  await parkSome(12)
  const id = await begin()
  for (const replica of replicas) replica.publish = holding
  for (let steps = 0; steps < 16 && (await read(id)).state === 'running'; steps++) await step()
  expect(await read(id)).toMatchObject(expected)
})

test.each<[string, () => Promise<RecoveryId>]>([
  ['a recovery', () => begin()],
  ['an automatic recovery', () => begin(ALL, null, undefined, { startedBy: 'recoverRejected' })],
])('a paused subscription pauses %s, and what is left is sent at its pace after the resume', async (_name, begins) => {
  await parkSome(12)
  const id = await begins()
  for (const replica of replicas) replica.publish = acknowledging
  await step()
  for (const to of [{ paused: true }, { pausedUntil: new Date(nowMs + 3_600_000).toISOString() }] as const) {
    const { sent } = await read(id)
    await change(to)
    for (let steps = 0; steps < 6; steps++) await step()
    expect(await read(id)).toMatchObject({ state: 'running', waitingFor: 'subscription-resumed', sent })
    await change({ paused: undefined, pausedUntil: undefined })
    await step()
    expect(await read(id)).toMatchObject({ waitingFor: null, sent: sent + 1, pace: { perSecond: 1 } })
  }
  expect(await stepsUntil(id, 'done')).toMatchObject({ sent: 12 })
})

test('a recovery without anything to send ends, also while the subscription is paused', async () => {
  await change({ paused: true })
  const id = await begin()
  await step()
  expect(await read(id)).toMatchObject({ state: 'done', found: 0, sent: 0 })
})

test('a backfill that finds only events without data ends, also while the subscription is disabled', async () => {
  await change({ enabled: false })
  await happen({ dataJson: JSON.stringify({ text: 'x'.repeat(20_000) }) })
  const id = await beginBackfill()
  await step()
  expect(await read(id)).toMatchObject({ state: 'done', found: 1, failed: 1, skipped: 0 })
  expect(await counted()).toMatchObject({ done: 1, cancelled: 0 })
})

test('a paused subscription does not pause a backfill, because the journal forgets its events', async () => {
  await change({ paused: true })
  await happen(...Array.from({ length: 3 }, () => ({})))
  const id = await beginBackfill()
  for (const replica of replicas) replica.publish = holding
  expect(await stepsUntil(id, 'done')).toMatchObject({ sent: 3, skipped: 0 })
})

test('what a replica was sending when it died stays parked during a pause, and is sent after it', async () => {
  const parked = await parkSome(1)
  const id = await begin()
  const dying = hanging(async () => {})
  replicas[0].publish = dying.publish
  await replicas[0].driver.timerDue({ tenant, payload: timer?.payload })
  await eventually(() => expect(dying.begun).toHaveLength(1))
  await change({ paused: true })
  replicas[1].publish = acknowledging
  await step(replicas[1])
  expect(await read(id)).toMatchObject({ waitingFor: 'subscription-resumed', batch: [{}] })
  expect(published).toEqual([])
  await change({ paused: undefined })
  while ((await read(id)).state === 'running') await step(replicas[1])
  expect(await read(id)).toMatchObject({ state: 'done', found: 1, sent: 1 })
  expect(published.map(({ deliveryId, run }) => [deliveryId, run])).toEqual(parked.map((each) => [each, 2]))
  dying.letGo()
  await replicas[0].driver.idle()
})

test('a client can lower the rate', async () => {
  await parkSome(10)
  for (const replica of replicas) replica.publish = acknowledging
  const startedMs = nowMs
  await stepsUntil(await begin(ALL, 1), 'done')
  expect(nowMs - startedMs).toBeGreaterThanOrEqual(9_000)
})

test('only selected deliveries are sent: by time and by reason', async () => {
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
  // A window excludes its end, as in the lists.
  const before = { ...ALL, from, to: parkedAt, reason: 'exhausted' } as const
  expect((await count({ kind: 'recovery', startedBy: 'request', selection: before })).shown).toMatchObject({ count: 0 })
  const recovery = await stepsUntil(await begin({ ...ALL, from, to, reason: 'exhausted' }), 'done')
  expect(recovery).toMatchObject({ found: 1, sent: 1, skipped: 0 })
  expect(published.map(({ deliveryId }) => deliveryId)).toEqual([wanted])
})

test('a recovery without parked deliveries is done immediately', async () => {
  expect(await stepsUntil(await begin(), 'done')).toMatchObject({ found: 0, sent: 0, skipped: 0 })
  expect(published).toEqual([])
})

describe('cancelling', () => {
  test('before the first step sends nothing', async () => {
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

  test('waits for the batch that is being sent; nothing is sent afterwards, and the rest stays parked', async () => {
    const parked = await parkSome(150)
    for (const replica of replicas) replica.publish = acknowledging
    const id = await begin()
    // Until a step sends several.
    while ((await read(id)).pace.perSecond < 32) await step()
    const sentBefore = published.length
    const slow = hanging(acknowledging)
    replicas[0].publish = slow.publish
    const stepping = step(replicas[0])
    await eventually(() => expect(slow.begun).toHaveLength(6))
    const cancelling = replicas[1].book.cancel(tenant, id)
    await eventually(async () => expect((await read(id)).state).toBe('cancelled'))
    expect((await read(id)).isSending).toBe(true)
    slow.letGo()
    const cancelled = await cancelling
    const sent = sentBefore + 6
    expect(cancelled).toMatchObject({ state: 'cancelled', isSending: false, sent, batch: [] })
    expect(await counted()).toEqual({ sent, skipped: 0, failed: 0, done: 0, cancelled: 1 })
    await stepping
    expect(published).toHaveLength(sent)
    const { shown } = await count({ kind: 'recovery', startedBy: 'request', selection: ALL })
    expect(shown).toMatchObject({ count: parked.length - sent })
  })
})

test('a recovery that is cancelled after its replica died releases the batch when the lease ends', async () => {
  await park()
  const id = await begin()
  const dead = hanging(async () => {})
  replicas[0].publish = dead.publish
  const lost = step(replicas[0])
  await eventually(() => expect(dead.begun).toHaveLength(1))
  const cancelling = replicas[1].book.cancel(tenant, id)
  await eventually(async () => expect((await read(id)).state).toBe('cancelled'))
  await step(replicas[1])
  // The clock of the test has moved on before the step has run, so the wait can end first.
  expect(await cancelling).toMatchObject({ state: 'cancelled', sent: 0 })
  expect(await read(id)).toMatchObject({ state: 'cancelled', isSending: false, batch: [], sent: 0 })
  dead.letGo()
  await lost
  expect(await read(id)).toMatchObject({ state: 'cancelled', sent: 0 })
})

describe('beginning', () => {
  test('the same recovery while it runs returns the running one; another window, reason or pace is rejected', async () => {
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
    await stepsUntil(id, 'done')
    expect(await begin()).not.toBe(id)
    expect((await replicas[0].book.list(tenant, subscriptionId)).map(({ state }) => state)).toEqual(['running', 'done'])
  })

  test('a second recovery while one runs counts nothing', async () => {
    await parkSome(2)
    const parked = createParkedWindow(connections[0])
    const journal = createJournalReader(connections[0], JOURNAL)
    let counts = 0
    const newest: typeof parked.newest = (id) => {
      counts++
      return parked.newest(id)
    }
    const route = boundRoute(recoveryRoutes, 'recover', {
      subscriptions: subscriptions(),
      recoveries: replicas[0].book,
      parked: { ...parked, newest },
      journal,
      parkedCounts: { count: async () => ({ count: 2, withoutBody: 0, dropped: 0, bodiesUntil: '0' }) },
      now: () => nowMs,
    })
    const recover = (body: object, id = randomUUID()) =>
      route.handle({
        caller: { tenant, clientId: 'crm', role: 'operator' },
        params: { id: subscriptionId },
        query: undefined,
        body,
        requestId: randomUUID(),
        idFor: () => id,
        isKeyed: false,
        isClosed: () => false,
      })
    const id = randomUUID()
    const first = await recover({}, id)
    expect(first).toMatchObject({ status: 202, isUnchanged: false })
    expect(await recover({})).toEqual({ ...first, isUnchanged: true })
    // Repeated after a crash, before the first request was audited.
    expect(await recover({}, id)).toEqual(first)
    await expect(recover({ reason: 'exhausted' })).rejects.toMatchObject({ code: 'recovery-in-progress' })
    expect(counts).toBe(1)
  })

  test('concurrently begins one recovery', async () => {
    await parkSome(2)
    const ids = await Promise.all(Array.from({ length: 5 }, () => begin()))
    expect(new Set(ids).size).toBe(1)
  })

  test('with the id of a repeated request returns the same recovery, even if it has ended', async () => {
    await park()
    const key = randomUUID()
    const id = await begin(ALL, null, key)
    await stepsUntil(id, 'done')
    expect(await begin({ ...ALL, reason: 'rejected' }, null, key)).toBe(id)
    expect(await read(id)).toMatchObject({ state: 'done', sent: 1 })
  })

  test('many recoveries keeps the last fifty', async () => {
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

  describe('for many subscriptions of a tenant', () => {
    const few = { subscription: 50, tenant: 3 }
    const limited = () => {
      const state = createStateStore(connections[0])
      const deps = { store: state, rejections: createRejectionStore(connections[0]), meter, now: () => nowMs }
      return createRecoveryBook(deps, createTransact(state), few)
    }
    const beginOf = async (of: string, isCancelled: boolean): Promise<RecoveryId> => {
      const recoveryId = parseRecoveryId(randomUUID())
      const asked = { recoveryId, subscriptionId: newSubscriptionId(), kind: 'recovery', startedBy: 'request' } as const
      const none = { found: 1, failed: 0, after: '0', until: '0', parkedUntil: '0' }
      await limited().begin(of, newRecovery({ ...asked, selection: ALL, maxPerSecond: null, ...none }, nowMs))
      if (isCancelled) await limited().cancel(of, recoveryId)
      return recoveryId
    }
    const known = async (of: string, ids: readonly RecoveryId[]) =>
      Promise.all(ids.map(async (id) => (await limited().find(of, id)) !== undefined))

    test('keeps the latest that have ended, and all that run', async () => {
      const another = randomUUID()
      const others = await beginOf(another, true)
      const running = await beginOf(tenant, false)
      const ended: RecoveryId[] = []
      for (let n = 0; n < 4; n++) ended.push(await beginOf(tenant, true))
      await eventually(async () =>
        expect(await known(tenant, [running, ...ended])).toEqual([true, false, false, true, true]),
      )
      expect(await known(another, [others])).toEqual([true])
    })

    test('is refused while as many run as the tenant can have', async () => {
      const running = [
        await beginOf(tenant, false),
        await beginOf(tenant, false),
        await beginOf(tenant, false),
      ] as const
      await expect(beginOf(tenant, false)).rejects.toMatchObject({ code: 'recovery-in-progress' })
      await limited().cancel(tenant, running[1])
      await beginOf(tenant, false)
      await eventually(async () => expect(await known(tenant, running)).toEqual([true, false, true]))
      await beginOf(randomUUID(), false)
    })

    test('is listed after a page whose last recovery has given way to a new one meanwhile', async () => {
      const running = await beginOf(tenant, false)
      const ended = [await beginOf(tenant, true), await beginOf(tenant, true)].toReversed()
      const page = async (cursor?: string | null) => {
        const { items, nextCursor } = await limited().page(tenant, { limit: 2, ...(cursor && { cursor }) })
        return { ids: items.map(({ recoveryId }) => recoveryId), nextCursor }
      }
      const first = await page()
      expect(first).toEqual({ ids: ended, nextCursor: expect.any(String) as string })
      expect(await page(first.nextCursor)).toEqual({ ids: [running], nextCursor: null })
      await beginOf(tenant, true)
      expect(await page(first.nextCursor)).toEqual({ ids: [running], nextCursor: null })
    })
  })

  test('does not make the recovery visible to another tenant', async () => {
    const id = await begin()
    expect(await replicas[0].book.find('another', id)).toBeUndefined()
    expect(await replicas[0].book.cancel('another', id)).toBeUndefined()
    expect(await read(id)).toMatchObject({ state: 'running' })
  })
})

describe('event types', () => {
  test('a recovery of some event types leaves the others parked', async () => {
    const [kept] = await parkSome(3)
    const notice = newDelivery(subscriptionId, { tenant, eventType: 'webhook.delivery.parked' })
    await store.park(notice, attemptOf(notice), 'exhausted')
    replicas[0].publish = acknowledging
    replicas[1].publish = acknowledging
    const id = await begin({ ...ALL, eventTypes: ['webhook.delivery.parked'] })
    expect(await stepsUntil(id, 'done')).toMatchObject({ found: 1, sent: 1 })
    expect(published.map(({ deliveryId }) => deliveryId)).toEqual([notice.deliveryId])
    expect(await isParked(kept ?? notice.deliveryId)).toBe(true)
  })

  test('a second recovery with other types is refused', async () => {
    await parkSome(2)
    await begin({ ...ALL, eventTypes: ['call.status'] })
    await expect(begin({ ...ALL, eventTypes: ['agent.status'] })).rejects.toMatchObject({
      code: 'recovery-in-progress',
      message: expect.stringContaining('other eventTypes'),
    })
  })
})

describe('a backfill', () => {
  test('sends the events that did not go to the subscription, once, in order and with the same ids', async () => {
    const missed = await happen({}, {}, {})
    await happen({ subscriptionIds: [subscriptionId] })
    await happen({ eventType: 'agent.status' }, { tenant: randomUUID() })
    replicas[0].publish = acknowledging
    replicas[1].publish = acknowledging
    const done = await stepsUntil(await beginBackfill(), 'done')
    expect(done).toMatchObject({ kind: 'backfill', found: 3, sent: 3, skipped: 0, failed: 0 })
    expect(published.map(({ deliveryId }) => deliveryId)).toEqual(
      missed.map(({ eventId }) => deliveryIdOf(eventId, subscriptionId)),
    )
    expect(published[0]).toMatchObject({ run: 1, slot: 0, attempt: 0, isRequested: true, signing: SIGNING })
    // Another one finds their deliveries.
    const again = await stepsUntil(await beginBackfill(), 'done')
    expect(again).toMatchObject({ sent: 0, skipped: 3 })
  })

  test('events that happen after it began are not sent, and neither are events without data', async () => {
    await happen({}, { dataJson: JSON.stringify({ text: 'x'.repeat(20_000) }) })
    const id = await beginBackfill()
    await happen({})
    replicas[0].publish = acknowledging
    replicas[1].publish = acknowledging
    expect(await stepsUntil(id, 'done')).toMatchObject({ found: 2, sent: 1, failed: 1 })
    expect(published).toHaveLength(1)
  })

  test('sends no event whose list of subscriptions was cut, unless the subscription was created after it', async () => {
    const subscriptionIds = Array.from({ length: 105 }, newSubscriptionId)
    // The journal has only the first 100.
    const acknowledged = [...subscriptionIds.slice(1), subscriptionId]
    const fannedOutAt = new Date(nowMs).toISOString()
    const earlier = new Date(nowMs - 3_600_000).toISOString()
    const [, before] = await happen(
      { subscriptionIds: acknowledged, fannedOutAt },
      { subscriptionIds, fannedOutAt: earlier },
    )
    replicas[0].publish = acknowledging
    replicas[1].publish = acknowledging
    expect(await stepsUntil(await beginBackfill(), 'done')).toMatchObject({ found: 1, sent: 1 })
    expect(published.map(({ deliveryId }) => deliveryId)).toEqual([
      deliveryIdOf(before?.eventId ?? newEventId(), subscriptionId),
    ])
  })

  test('is continued by another replica after a crash while it was sending, as the same runs', async () => {
    const [event] = await happen({})
    const id = await beginBackfill()
    const dying = hanging(async () => {})
    replicas[0].publish = dying.publish
    const first = timer
    if (first === undefined) throw new Error('no timer is set')
    await replicas[0].driver.timerDue({ tenant, payload: first.payload })
    await eventually(() => expect(dying.begun).toHaveLength(1))
    replicas[1].publish = acknowledging
    await step(replicas[1])
    await stepsUntil(id, 'done')
    dying.letGo()
    await replicas[0].driver.idle()
    expect(published.map(({ deliveryId, run }) => [deliveryId, run])).toEqual([
      [deliveryIdOf(event?.eventId ?? newEventId(), subscriptionId), 1],
    ])
  })

  test('counts an event that the journal has lost meanwhile as failed', async () => {
    await happen({})
    const id = await beginBackfill()
    replicas[0].publish = () => Promise.reject(new Unavailable('rabbitmq', 'away'))
    await step()
    expect(await read(id)).toMatchObject({ sent: 0, waitingFor: 'broker' })
    await createJournal(connections[0], { ...JOURNAL, size: 1 }).append([loggedEvent({ tenant, dataJson: '{}' })])
    replicas[0].publish = acknowledging
    replicas[1].publish = acknowledging
    expect(await stepsUntil(id, 'done')).toMatchObject({ found: 1, sent: 0, failed: 1 })
  })
})

describe('the list of a tenant', () => {
  test('has the recoveries of all its subscriptions in pages, the newest first', async () => {
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      subscriptionId = newSubscriptionId()
      ids.unshift(await begin())
    }
    const { book } = replicas[1]
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await book.page(tenant, { limit: 2, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.items.map(({ recoveryId }) => recoveryId))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(ids)
    expect(await book.page(randomUUID(), { limit: 2 })).toEqual({ items: [], nextCursor: null })
  })
})
