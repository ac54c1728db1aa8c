import { newSubscriptionId } from '@switchhook/contracts'
import { createHeldStore } from '@switchhook/store'
import { aDelivery } from '@switchhook/testkit'
import { createDeliver } from '../pipeline/deliver.ts'
import { anAdmission, deliverDeps } from '../testing/delivering.ts'
import { type OpenedStore, useStore } from '../testing/use-store.ts'
import { createLimitHeld } from './limit-held.ts'

let world: OpenedStore
useStore((opened) => (world = opened))

test('beyond the limit, the deliveries that have been held for longest are parked with their body', async () => {
  const { store } = world
  const held = createHeldStore(world.redis)
  const noticed: string[] = []
  const noticeParked = async ({ deliveryId }: { readonly deliveryId: string }) => void noticed.push(deliveryId)
  const deliver = createDeliver(
    deliverDeps({
      ...store,
      noticeParked,
      admit: async () => anAdmission({ kind: 'held', lookInMs: 60_000 }),
      limitHeld: createLimitHeld({ held, limit: 3, park: (...args) => store.park(...args), noticeParked }),
    }),
  )
  const subscriptionId = newSubscriptionId()
  const deliveries = Array.from({ length: 5 }, (_, i) => aDelivery({ subscriptionId, body: Buffer.from(`{"n":${i}}`) }))
  for (const delivery of deliveries) await deliver(delivery, 'due')

  const found = await Promise.all(deliveries.map(({ deliveryId }) => store.find(deliveryId)))
  expect(found.map((each) => each?.state)).toEqual(['parked', 'parked', 'held', 'held', 'held'])
  expect(found.slice(0, 2).map((each) => each?.body?.toString())).toEqual(['{"n":0}', '{"n":1}'])
  expect(noticed).toEqual(deliveries.slice(0, 2).map(({ deliveryId }) => deliveryId))
  expect(await held.counts([subscriptionId])).toMatchObject([{ count: 3, leased: 0 }])
})
