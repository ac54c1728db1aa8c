import { randomUUID } from 'node:crypto'
import {
  AppError,
  type Delivery,
  type DeliveryId,
  newSubscriptionId,
  type ParkedReason,
  parseRecoveryId,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import { createMetrics } from '@switchhook/runtime'
import { attemptOf, newDelivery } from '@switchhook/servicekit'
import {
  createBreakerStore,
  createDeliveryArchive,
  createDeliveryStore,
  createJournalReader,
  createParkedCounter,
  createParkedWindow,
  createRejectionStore,
  createStateStore,
  createSubscriptionStore,
  openRedis,
  type Redis,
} from '@switchhook/store'
import { aSubscription, silentLog, UNLIMITED, unscheduled, unverified, useRedis } from '@switchhook/testkit'
import { announceTimers } from '../../state/timer-loop.ts'
import type { Writing } from '../../state/transact.ts'
import { countRecovery } from './begin-recovery.ts'
import { createRecoverRejected } from './recover-rejected.ts'
import { createRecoveries } from './recoveries-feature.ts'
import { newRecovery, type Recovery } from './recovery.ts'
import { createRecoveryMeter } from './recovery-meter.ts'

const HOUR_MS = 3_600_000
const RETENTION = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }
const MINUTE_MS = 60_000

let connections: readonly [Redis, Redis]
let tenant: string
let subscriptionId: SubscriptionId
let replicas: readonly [Replica, Replica]
let nowMs: number
let published: Delivery[]
/** What happens to a delivery that a recovery sends. */
let endpoint: (delivery: Delivery) => Promise<void>
/** Replicas die before they remove the recorded rejections. */
let dies: boolean
let timers: NonNullable<Writing['timers']>[number][]
/** Awaited by each replica that counts. */
let counts: () => Promise<void>

type Replica = ReturnType<typeof openReplica>

useRedis(openRedis, (opened) => (connections = [opened.redis, opened.other]))
beforeEach(async () => {
  tenant = randomUUID()
  subscriptionId = newSubscriptionId()
  published = []
  timers = []
  dies = false
  counts = async () => {}
  nowMs = Date.now()
  endpoint = accepts
  await subscribe({ recoverRejected: true })
  replicas = [openReplica(connections[0]), openReplica(connections[1])]
})

const subscribe = (change: Partial<Subscription>): Promise<Subscription> =>
  createSubscriptionStore(connections[0], unverified, {}).create(
    aSubscription({ id: subscriptionId, tenant, ...change }),
  )
const store = () => createDeliveryStore(connections[0], RETENTION, UNLIMITED, unverified)
const rejections = () => createRejectionStore(connections[0])
const recorded = () => rejections().find({ tenant, subscriptionId })

function openReplica(redis: Redis) {
  const [parked, recording] = [createParkedWindow(redis), createRejectionStore(redis)]
  const parkedCounts = createParkedCounter(redis)
  const journal = createJournalReader(redis, { size: 1, retentionMs: MINUTE_MS, deliveryRetentionMs: MINUTE_MS })
  const { book, driver } = createRecoveries({
    store: announceTimers(createStateStore(redis), (set) => timers.push(...set)),
    readEndpoint: (each) => createBreakerStore(redis, { failures: 2, cooldownMs: 1 }).readEndpoint(each),
    parked,
    rejections: recording,
    deliveries: createDeliveryArchive(redis),
    journal,
    publish: async (delivery) => {
      published.push(delivery)
      await endpoint(delivery)
    },
    mostPerSecond: 50,
    now: () => nowMs,
    meter: createRecoveryMeter(createMetrics('api')),
    log: silentLog,
  })
  const [again, leases]: [number[], unknown[]] = [[], []]
  let refusal: (() => Promise<never>) | undefined
  const rejected = createRecoverRejected({
    subscriptions: createSubscriptionStore(redis, unverified, {}),
    rejections: {
      ...recording,
      remove: (...those) => (dies ? Promise.reject(new Error('died')) : recording.remove(...those)),
    },
    recoveries: { ...book, begin: (...those) => (refusal ?? book.begin)(...those) },
    parked: {
      ...parked,
      newest: async (id) => {
        await counts()
        return parked.newest(id)
      },
    },
    parkedCounts,
    journal,
    store: {
      commit: async (_tenant, { timers: [timer] }) => {
        if (Object.hasOwn(timer?.payload ?? {}, 'counting')) leases.push(timer?.payload)
        else again.push(timer?.dueInMs ?? 0)
        return 'committed'
      },
    },
    now: () => nowMs,
    log: silentLog,
  })
  return {
    book,
    driver,
    again,
    leases,
    deps: { parked, parkedCounts, journal },
    begins: (as: typeof refusal) => void (refusal = as),
    timerDue: rejected.timerDue,
    asked: async (payload: unknown = { subscriptionId }) => {
      await rejected.timerDue({ tenant, payload })
      await rejected.idle()
    },
  }
}

async function accepts(delivery: Delivery): Promise<void> {
  const attempt = attemptOf(delivery, { outcome: 'delivered', status: 204 })
  await store().settle(delivery, attempt, { state: 'acknowledged' })
}
async function rejects(delivery: Delivery): Promise<void> {
  await store().park(delivery, attemptOf(delivery, { status: 401 }), 'rejected')
}

/** Parks a delivery as a worker does. */
async function park(reason: ParkedReason = 'rejected'): Promise<DeliveryId> {
  const delivery = newDelivery(subscriptionId, { tenant })
  await store().park(delivery, attemptOf(delivery, { status: 404 }), reason)
  if (reason === 'rejected') await record(delivery.deliveryId)
  return delivery.deliveryId
}

async function record(deliveryId: DeliveryId): Promise<void> {
  const record = await createDeliveryArchive(connections[0]).find(deliveryId)
  await rejections().record({ tenant, subscriptionId }, Date.parse(record?.parkedAt ?? ''))
}

const recoveries = (): Promise<readonly Recovery[]> => replicas[0].book.list(tenant, subscriptionId)
const sent = (): DeliveryId[] => published.map(({ deliveryId }) => deliveryId)

/** Runs the steps of recoveries until none is due, at both replicas in turn. */
async function run(): Promise<void> {
  for (let steps = 0, due = timers.shift(); due !== undefined; steps++, due = timers.shift()) {
    nowMs += due.dueInMs
    const { driver } = replicas[steps % 2 === 0 ? 0 : 1]
    await driver.timerDue({ tenant, payload: due.payload })
    await driver.idle()
  }
}

test('one that is refused, because too many of the tenant run, is tried again in five minutes: counting is expensive', async () => {
  await park()
  const refused = () => Promise.reject(new AppError('recovery-in-progress'))
  replicas[0].begins(refused)
  await replicas[0].asked()
  expect(replicas[0].again).toEqual([5 * MINUTE_MS])
  expect(await recorded()).toBeDefined()
  replicas[0].begins(undefined)
  await replicas[0].asked()
  expect(await recoveries()).toHaveLength(1)
})

test('two replicas that are asked at the same time, and again, begin one recovery, of the deliveries that were rejected', async () => {
  const earlier = newDelivery(subscriptionId, { tenant })
  await store().park(earlier, attemptOf(earlier, { status: 404 }), 'rejected')
  const rejected = [await park(), await park(), await park()]
  await park('exhausted')
  await Promise.all([...replicas, ...replicas].map(({ asked }) => asked()))
  await run()
  for (const { asked } of replicas) await asked()
  await run()
  expect(await recoveries()).toMatchObject([
    { state: 'done', startedBy: 'recoverRejected', selection: { reason: 'rejected' }, found: 3, sent: 3 },
  ])
  expect(sent().toSorted()).toEqual(rejected.toSorted())
  expect(published.map(({ run, isAutomatic }) => [run, isAutomatic])).toEqual(rejected.map(() => [2, true]))
  expect(await recorded()).toBeUndefined()
})

test('a replica that dies after it has begun the recovery leaves a question that begins no other', async () => {
  await park()
  dies = true
  await replicas[0].asked()
  dies = false
  await run()
  expect(await recorded()).toBeDefined()
  await replicas[1].asked(replicas[0].leases[0])
  expect(await recoveries()).toHaveLength(1)
  expect(replicas[1].again).toEqual([])
  expect(await recorded()).toBeUndefined()
})

test('other timers do not wait while it counts, and another replica begins if the one that counts dies', async () => {
  const rejected = await park()
  counts = () => new Promise(() => {})
  await replicas[0].timerDue({ tenant, payload: { subscriptionId } })
  await replicas[0].timerDue({ tenant, payload: { subscriptionId } })
  expect(await recoveries()).toEqual([])
  counts = async () => {}
  await replicas[1].asked(replicas[0].leases[1])
  await run()
  expect(sent()).toEqual([rejected])
})

test('what is rejected after a recovery has begun waits for the next 2xx, not for the timer of the count', async () => {
  await park()
  await replicas[0].asked()
  await run()
  const later = await park()
  nowMs += 5 * MINUTE_MS
  await replicas[1].asked(replicas[0].leases[0])
  expect(await recoveries()).toHaveLength(1)
  await replicas[1].asked()
  await run()
  expect(sent()).toContain(later)
})

test('begins nothing if the setting is removed while it counts', async () => {
  await park()
  counts = () => rejections().forget({ tenant, subscriptionId })
  await replicas[0].asked()
  expect(await recoveries()).toEqual([])
})

test('ends with the first delivery that is rejected again, continues five minutes later, and sends each once', async () => {
  const rejected = [await park(), await park(), await park(), await park()]
  endpoint = rejects
  await replicas[0].asked()
  await run()
  expect(await recoveries()).toMatchObject([{ state: 'cancelled', cancelledBecause: 'parked-again', sent: 1 }])
  expect(await recorded()).toBeDefined()

  endpoint = accepts
  await replicas[0].asked()
  await replicas[1].asked()
  expect(replicas.map(({ again }) => again.length)).toEqual([1, 1])
  expect(await recoveries()).toHaveLength(1)
  nowMs += replicas[0].again[0] ?? 0
  await replicas[1].asked()
  await run()
  expect(await recoveries()).toMatchObject([{ state: 'done', found: 3, sent: 3 }, { state: 'cancelled' }])
  expect(sent()).toHaveLength(4)
  expect(new Set(sent())).toEqual(new Set(rejected))
})

test('deliveries that others have parked meanwhile do not end it, and neither does a rare one that is rejected again', async () => {
  const rejected = await Promise.all(Array.from({ length: 12 }, () => park()))
  endpoint = async (delivery) => {
    await park()
    await (published.length === 8 ? rejects(delivery) : accepts(delivery))
  }
  await replicas[0].asked()
  await run()
  expect(await recoveries()).toMatchObject([{ state: 'done', found: 12, sent: 12 }])
  expect(new Set(sent())).toEqual(new Set(rejected))
})

test('a rejection that is recorded while a recovery begins stays for the next one', async () => {
  await park()
  const read = await recorded()
  if (read === undefined) throw new Error('nothing is recorded')
  const late = await park()
  await rejections().remove({ tenant, subscriptionId }, read)
  expect((await recorded())?.recoveryId).not.toBe(read.recoveryId)
  expect((await recorded())?.sinceMs).toBe(read.sinceMs)
  await replicas[0].asked()
  await run()
  expect(sent()).toContain(late)
})

test('the deliveries of a recovery that is cancelled stay parked, also if a rejection was recorded while it began', async () => {
  await park()
  dies = true
  await replicas[0].asked()
  dies = false
  await park()
  const [begun] = await recoveries()
  if (begun === undefined) throw new Error('no recovery has begun')
  await replicas[1].book.cancel(tenant, begun.recoveryId)
  const later = await park()
  nowMs += 5 * MINUTE_MS
  await replicas[0].asked()
  await run()
  expect(sent()).toEqual([later])
})

test('waits while a recovery runs that somebody has started, and is in the way of one that somebody starts', async () => {
  await park()
  const selection = { from: null, to: null, reason: null, eventTypes: null }
  const wanted = { kind: 'recovery', startedBy: 'request', selection } as const
  const asked = { ...wanted, recoveryId: parseRecoveryId(randomUUID()), subscriptionId, maxPerSecond: null }
  const { counted } = await countRecovery(replicas[0].deps, aSubscription({ id: subscriptionId, tenant }), wanted)
  await replicas[0].book.begin(tenant, newRecovery({ ...asked, ...counted }, nowMs))
  await replicas[1].asked()
  expect(replicas[1].again).toEqual([MINUTE_MS])
  expect(await recoveries()).toHaveLength(1)
  await run()

  await park()
  await replicas[1].asked()
  expect(await recoveries()).toMatchObject([{ startedBy: 'recoverRejected', found: 1 }, {}])
  const other = { ...asked, recoveryId: parseRecoveryId(randomUUID()) }
  await expect(replicas[0].book.begun(tenant, other)).rejects.toMatchObject({
    code: 'recovery-in-progress',
    message: expect.stringContaining('(recoverRejected)'),
  })
})

test.each<[string, Partial<Subscription>]>([
  ['has the setting no longer', { recoverRejected: undefined }],
  ['is disabled', { enabled: false }],
])('begins nothing if the subscription %s', async (_name, change) => {
  await park()
  await createSubscriptionStore(connections[0], unverified, {}).revise(tenant, subscriptionId, (each) => ({
    ...each,
    ...change,
  }))
  await replicas[0].asked()
  expect(await recoveries()).toEqual([])
})

test('begins nothing if nothing is parked any more, or the subscription is deleted', async () => {
  const deliveryId = await park()
  await accepts({ ...newDelivery(subscriptionId, { tenant }), deliveryId, run: 1 })
  await replicas[0].asked()
  expect(await recoveries()).toEqual([])
  expect(await recorded()).toBeUndefined()
  await park()
  await createSubscriptionStore(connections[0], unverified, {}).remove(tenant, subscriptionId, () => {})
  await replicas[0].asked()
  expect(await recoveries()).toEqual([])
})
