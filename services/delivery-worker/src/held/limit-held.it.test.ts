import { newSubscriptionId } from '@switchhook/contracts'
import { createHeldLimitStore, createHeldStore } from '@switchhook/store'
import { aDelivery, eventually, silentLog } from '@switchhook/testkit'
import { createDeliver } from '../pipeline/deliver.ts'
import { anAdmission, deliverDeps } from '../testing/delivering.ts'
import { type OpenedStore, useStore } from '../testing/use-store.ts'
import { startHeldLimiter } from './limit-held.ts'

let world: OpenedStore
useStore((opened) => (world = opened))

const HOUR_MS = 3_600_000

/** A worker whose subscriptions are all paused. It sweeps when the test says so. */
function aWorker(limits: { readonly perSubscription: number; readonly perTenant: number }) {
  const { store, redis } = world
  const [held, limitStore] = [createHeldStore(redis), createHeldLimitStore(redis, HOUR_MS)]
  const tenant: string = newSubscriptionId()
  const noticed: string[] = []
  const crossings: unknown[] = []
  const limiter = startHeldLimiter({
    store: limitStore,
    held,
    limits,
    everyMs: HOUR_MS,
    notice: async ({ subscriptionId }) => {
      const crossing = await limitStore.unreported(subscriptionId)
      if (crossing === undefined) return
      crossings.push([subscriptionId, crossing.limit, crossing.count])
      await limitStore.markReported(subscriptionId, crossing)
    },
    park: (...args) => store.park(...args),
    noticeParked: async ({ deliveryId }) => void noticed.push(deliveryId),
    now: Date.now,
    log: silentLog,
  })
  const deliver = createDeliver(
    deliverDeps({
      ...store,
      settle: limiter.storing((...args) => store.settle(...args)),
      admit: async () => anAdmission({ kind: 'held', lookInMs: 60_000 }),
    }),
  )
  const hold = async (subscriptionId: ReturnType<typeof newSubscriptionId>, count: number) => {
    const deliveries = Array.from({ length: count }, (_, i) =>
      aDelivery({ tenant, subscriptionId, body: Buffer.from(`{"n":${i}}`) }),
    )
    for (const delivery of deliveries) {
      const heldAtMs = Date.now()
      await deliver(delivery, 'due')
      // Those of one millisecond have no order.
      await eventually(() => expect(Date.now()).toBeGreaterThan(heldAtMs + 1), { intervalMs: 1 })
    }
    await limiter.sweep()
    return deliveries
  }
  const count = async (id: ReturnType<typeof newSubscriptionId>) => (await held.count(id)).count
  return { hold, count, held, limiter, noticed, crossings }
}

test('beyond the limit, the deliveries that have been held for longest are parked with their body', async () => {
  const { hold, held, limiter, noticed } = aWorker({ perSubscription: 3, perTenant: 100 })
  const subscriptionId = newSubscriptionId()
  const deliveries = await hold(subscriptionId, 5)

  const found = await Promise.all(deliveries.map(({ deliveryId }) => world.store.find(deliveryId)))
  expect(found.map((each) => each?.state)).toEqual(['parked', 'parked', 'held', 'held', 'held'])
  expect(found[0]).toMatchObject({ parkedReason: 'exhausted', parkedCause: 'held-limit' })
  expect(found.slice(0, 2).map((each) => each?.body?.toString())).toEqual(['{"n":0}', '{"n":1}'])
  expect(new Set(noticed)).toEqual(new Set(deliveries.slice(0, 2).map(({ deliveryId }) => deliveryId)))
  expect(await held.count(subscriptionId)).toMatchObject({ count: 3, leased: 0 })
  await limiter.stop()
})

test('the deliveries of one subscription do not displace those of others of the tenant', async () => {
  const { hold, count, limiter } = aWorker({ perSubscription: 10, perTenant: 12 })
  const [small, large] = [newSubscriptionId(), newSubscriptionId()]
  await hold(small, 4)
  await hold(large, 9)
  // A count of the tenant begins some time after the one before.
  await eventually(async () => {
    await hold(large, 1)
    expect([await count(small), await count(large)]).toEqual([4, 8])
  })
  await limiter.stop()
})

test('more than 80 % of the limit are reported once, and again only after they were below 70 %', async () => {
  const { hold, held, limiter, crossings } = aWorker({ perSubscription: 10, perTenant: 100 })
  const id = newSubscriptionId()
  const drop = async (most: number) => held.remove(id, 'held', await held.due(id, { most }))
  await hold(id, 8)
  expect(crossings).toEqual([])
  await hold(id, 1)
  expect(crossings).toEqual([[id, 10, 9]])
  // 8, then 9 again.
  await drop(2)
  await hold(id, 1)
  await hold(id, 1)
  expect(crossings).toHaveLength(1)
  await drop(4)
  await hold(id, 1)
  await hold(id, 3)
  expect(crossings).toEqual([
    [id, 10, 9],
    [id, 10, 9],
  ])
  await limiter.stop()
})
