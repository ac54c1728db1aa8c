import { type Delivery, newSubscriptionId, type SubscriptionId, Unavailable } from '@switchhook/contracts'
import { type OpenedStore, RETENTION, useStore } from '@switchhook/servicekit'
import {
  createDeliveryStore,
  createHeldStore,
  createLimitNotices,
  createTenantParked,
  type HeldExcess,
} from '@switchhook/store'
import { aDelivery, aSubscription, silentLog, unverified } from '@switchhook/testkit'
import { createPipeline } from '../pipeline/pipeline.ts'
import { aReading, HEALTHY, heldParts, pipelineDeps } from '../testing/delivering.ts'
import { createHeldLimit } from './held-limit.ts'
import { createVisitHeld } from './visit-held.ts'

let world: OpenedStore
useStore((opened) => (world = opened))

interface WorkerOptions {
  readonly perSubscription: number
  readonly perTenant?: number
  readonly tenant?: string
  /** Called before each notice of a parked delivery. */
  readonly publish?: () => Promise<void>
  /** Before it parks what it has claimed. */
  readonly dies?: boolean
}

/** A worker whose subscriptions are all paused. */
function aWorker({ perSubscription, perTenant = 1_000, tenant = newSubscriptionId(), publish, dies }: WorkerOptions) {
  const { redis, store: archive } = world
  const held = createHeldStore(redis)
  const store = createDeliveryStore(redis, RETENTION, { perSubscription, perTenant, released: () => {} }, unverified)
  const noticed: string[] = []
  const noticeParked = async ({ deliveryId }: Pick<Delivery, 'deliveryId'>): Promise<void> => {
    if ((await archive.find(deliveryId))?.state !== 'parked') return
    await publish?.()
    noticed.push(deliveryId)
  }
  const { parkExcess, afterSettled } = createHeldLimit({
    held,
    deliveries: store,
    notices: { noticeParked, noticeIfParked: noticeParked },
    log: silentLog,
  })
  const claimed: HeldExcess[] = []
  const { deliver } = createPipeline(
    pipelineDeps({
      ...store,
      afterSettled: [
        async (settled) => {
          const { excess = [] } = settled.written ?? {}
          claimed.push(...excess)
          if (dies && excess.length > 0) throw new Unavailable('redis', 'this worker died')
          await afterSettled(settled)
        },
      ],
      admit: async () => aReading({ kind: 'held', visitInMs: 60_000 }),
    }),
  )
  return {
    tenant,
    held,
    noticed,
    deliver: (delivery: Delivery) => deliver(delivery, 'due'),
    hold: async (subscriptionId: SubscriptionId, count: number): Promise<Delivery[]> => {
      const deliveries = deliveriesOf(tenant, subscriptionId, count)
      for (const delivery of deliveries) {
        await deliver(delivery, 'due')
        await laterMs()
      }
      return deliveries
    },
    count: async (id: SubscriptionId) => (await held.count(id)).count,
    parkedOf: async (subscriptionId: SubscriptionId) => {
      const query = { subscriptionId, limit: 1_000, matches: () => true }
      return (await createTenantParked(world.redis).page(tenant, query)).items
    },
    /** A worker visits after the leases of all claimed deliveries have ended. */
    visit: async (subscriptionId: SubscriptionId): Promise<void> => {
      const visits = { claimDue: async () => [{ tenant, subscriptionId, claim: '' }], finish: async () => {} }
      await createVisitHeld({
        ...heldParts(),
        notices: { noticeIfParked: noticeParked, noticeHeldLimit: async () => {} },
        heldLimit: { parkExcess, listAgain: async () => {} },
        held: {
          ...held,
          next: async () => ({ nowMs: 0, dueAtMs: null, lapsesAtMs: 0 }),
          unparked: async () => claimed.flatMap(({ entries }) => entries),
        },
        visits,
        readEndpoint: async () => ({ health: HEALTHY, subscription: aSubscription({ paused: true }) }),
        publish: async () => {},
        postLimits: { passOn: async () => null },
        waiting: async () => ({ yielding: 0, due: 0 }),
        log: silentLog,
      })()
    },
  }
}

/** Deliveries that were held in the same ms have no order. */
async function laterMs(): Promise<void> {
  const heldMs = Date.now()
  while (Date.now() === heldMs) await new Promise(setImmediate)
}

const deliveriesOf = (tenant: string, subscriptionId: SubscriptionId, count: number): Delivery[] =>
  Array.from({ length: count }, (_, i) => aDelivery({ tenant, subscriptionId, body: Buffer.from(`{"n":${i}}`) }))

test('beyond the limit, the deliveries that have been held for longest are parked with their body', async () => {
  const { hold, held, noticed } = aWorker({ perSubscription: 3 })
  const subscriptionId = newSubscriptionId()
  const deliveries = await hold(subscriptionId, 5)

  const found = await Promise.all(deliveries.map(({ deliveryId }) => world.store.find(deliveryId)))
  expect(found.map((each) => each?.state)).toEqual(['parked', 'parked', 'held', 'held', 'held'])
  expect(found[0]).toMatchObject({ parkedReason: 'exhausted', parkedCause: 'held-limit' })
  expect(found.slice(0, 2).map((each) => each?.body?.toString())).toEqual(['{"n":0}', '{"n":1}'])
  expect(noticed).toEqual(deliveries.slice(0, 2).map(({ deliveryId }) => deliveryId))
  expect(await held.count(subscriptionId)).toMatchObject({ count: 3, leased: 0 })
})

test('a large delivery takes a unit for each 8 KB, so that the limit bounds the memory, too', async () => {
  const { deliver, count, hold, held, tenant } = aWorker({ perSubscription: 10 })
  const id = newSubscriptionId()
  const large = deliveriesOf(tenant, id, 5).map((each) => ({ ...each, body: Buffer.alloc(20_000, ' ') }))
  for (const delivery of large) await deliver(delivery)
  expect(await count(id)).toBe(3)
  // One unit was left. One that goes on gives back three.
  await held.remove(id, 'held', await held.due(id, { most: 1 }))
  await hold(id, 4)
  expect(await count(id)).toBe(6)
  await hold(id, 1)
  expect(await count(id)).toBe(6)
})

test('two workers that hold deliveries at the same time park exactly those over the limit', async () => {
  const first = aWorker({ perSubscription: 20 })
  const second = aWorker({ perSubscription: 20, tenant: first.tenant })
  const id = newSubscriptionId()
  const deliveries = deliveriesOf(first.tenant, id, 100)
  await Promise.all(deliveries.map((each, i) => (i % 2 === 0 ? first : second).deliver(each)))
  expect(await first.count(id)).toBe(20)
  // The same limit applies to parked deliveries: half of them have lost their body, the others were dropped.
  expect(await first.parkedOf(id)).toHaveLength(40)
  expect(new Set([...first.noticed, ...second.noticed]).size).toBe(80)
})

test('while no notice can be published, no more than the excess is parked, and the notices follow', async () => {
  let isAway = true
  const publish = async (): Promise<void> => {
    if (isAway) throw new Unavailable('rabbitmq', 'alarm')
  }
  const { deliver, visit, count, noticed, held, tenant, parkedOf } = aWorker({ perSubscription: 20, publish })
  const id = newSubscriptionId()
  for (const delivery of deliveriesOf(tenant, id, 23)) {
    // The message comes back, and is acknowledged as it is settled.
    await deliver(delivery).catch(() => deliver(delivery))
  }
  for (let visits = 0; visits < 3; visits++) await visit(id)
  expect([await count(id), (await parkedOf(id)).length, noticed.length]).toEqual([20, 3, 0])
  isAway = false
  await visit(id)
  expect(noticed.toSorted()).toEqual((await parkedOf(id)).map(({ deliveryId }) => deliveryId).toSorted())
  expect([await count(id), noticed.length, (await held.next(id)).lapsesAtMs]).toEqual([20, 3, null])
})

test('a worker that dies before it parks what it has claimed leaves it to the next visit', async () => {
  const { deliver, hold, visit, count, held, noticed, tenant, parkedOf } = aWorker({ perSubscription: 2, dies: true })
  const id = newSubscriptionId()
  const [oldest] = await hold(id, 2)
  for (const delivery of deliveriesOf(tenant, id, 1))
    await expect(deliver(delivery)).rejects.toThrow('this worker died')
  expect([await count(id), (await parkedOf(id)).length]).toEqual([2, 0])
  expect((await held.next(id)).lapsesAtMs).toBeGreaterThan(Date.now())
  expect(await held.unparked(id, 10)).toEqual([])
  await visit(id)
  expect((await parkedOf(id)).map(({ deliveryId }) => deliveryId)).toEqual([oldest?.deliveryId])
  expect([noticed, (await held.next(id)).lapsesAtMs]).toEqual([[oldest?.deliveryId], null])
})

test('the deliveries of one subscription do not displace those of others of the tenant', async () => {
  const { hold, count } = aWorker({ perSubscription: 10, perTenant: 12 })
  const [small, large] = [newSubscriptionId(), newSubscriptionId()]
  await hold(small, 4)
  await hold(large, 10)
  expect([await count(small), await count(large)]).toEqual([4, 8])
  await hold(small, 1)
  expect([await count(small), await count(large)]).toEqual([5, 7])
})

test('deliveries that clients have received are not parked: a tenant over its limit parks what was held last', async () => {
  const { hold, count, held, tenant } = aWorker({ perSubscription: 10, perTenant: 12 })
  const [received, other] = [newSubscriptionId(), newSubscriptionId()]
  await hold(received, 8)
  await held.receive({ tenant, subscriptionId: received }, 8, 30)
  await hold(other, 6)
  expect([await count(received), await count(other)]).toEqual([8, 4])
})

test('a notice is due once beyond 80 % of the limit, and again only after fewer than 70 % were held', async () => {
  const { hold, held, tenant } = aWorker({ perSubscription: 10 })
  const id = newSubscriptionId()
  const notices = createLimitNotices(world.redis, 'held')
  const due = async () => {
    const found = await notices.due(tenant)
    for (const each of found) await notices.published(each)
    return found.map(({ limit, size }) => [limit, size])
  }
  const drop = async (most: number) => held.remove(id, 'held', await held.due(id, { most }))
  await hold(id, 8)
  expect(await due()).toEqual([])
  await hold(id, 1)
  // A visit publishes it.
  const found = await held.visits.claimDue(100, 1)
  expect(found.map(({ subscriptionId }) => subscriptionId)).toContain(id)
  expect(await due()).toEqual([[10, 9]])
  // 8, then 9 again.
  await drop(2)
  await hold(id, 2)
  expect(await due()).toEqual([])
  await drop(4)
  await hold(id, 4)
  expect(await due()).toEqual([[10, 9]])
})
