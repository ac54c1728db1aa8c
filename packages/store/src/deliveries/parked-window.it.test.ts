import { type Delivery, newSubscriptionId, type ParkedReason, type SubscriptionId } from '@switchhook/contracts'
import type { DeliveryArchive } from './delivery-archive.ts'
import type { DeliveryStore } from './delivery-store.ts'
import type { ParkedEntry } from './parked-list.ts'
import { createParkedWindow, type ParkedRange, type ParkedWindow } from './parked-window.ts'
import { deliveryOf, failed, type TestDeliveries, useDeliveries } from './testing/deliveries.ts'

let fixture: TestDeliveries
let store: DeliveryStore & DeliveryArchive
let parked: ParkedWindow
let subscriptionId: SubscriptionId

useDeliveries((opened) => {
  fixture = opened
  ;({ store } = fixture)
  parked = createParkedWindow(fixture.redis)
})
beforeEach(() => {
  subscriptionId = newSubscriptionId()
})

async function park(reason: ParkedReason = 'exhausted'): Promise<Delivery> {
  const delivery = deliveryOf({ subscriptionId })
  await store.park(delivery, failed(delivery), reason)
  return delivery
}

const all = async (reason: ParkedReason | null = null) => ({
  after: '0',
  until: await parked.newest(subscriptionId),
  reason,
  eventTypes: null,
  isFirstRun: false,
})

const placeOf = ({ deliveryId, run }: Pick<Delivery, 'deliveryId' | 'run'>) => ({ deliveryId, run })

/** The places that a range selects. */
const wanted = async (range: ParkedRange) =>
  (await parked.read(subscriptionId, range, 9)).filter(({ isWanted }) => isWanted).map(placeOf)

test('an empty list has no newest entry, and nothing to read', async () => {
  expect(await parked.newest(subscriptionId)).toBe('0')
  expect(await parked.read(subscriptionId, await all(), 10)).toEqual([])
})

test('a range is read in pieces, the oldest first, without deliveries that are parked later', async () => {
  const deliveries: Delivery[] = []
  for (let i = 0; i < 20; i++) deliveries.push(await park())
  const range = await all()
  await park()
  const read: ParkedEntry[] = []
  for (let size = 9; size === 9; ) {
    const piece = await parked.read(subscriptionId, { ...range, after: read.at(-1)?.since ?? '0' }, 9)
    read.push(...piece)
    size = piece.length
  }
  expect(read.map(placeOf)).toEqual(deliveries.map(placeOf))
  const parkedAt = deliveries[0] && (await store.find(deliveries[0].deliveryId))?.parkedAt
  expect(Math.floor(Number(read[0]?.since) / 1_000)).toBe(Date.parse(parkedAt ?? ''))
})

test('a range leaves out other reasons, other types, later runs and deliveries that are no longer parked', async () => {
  const [rejected, exhausted, gone] = [await park('rejected'), await park(), await park()]
  // Begun but not noted as published, so it is still parked.
  await store.beginRedelivery(exhausted.deliveryId, { sender: 'a' })
  const again = await fixture.sendAgain(gone)
  const range = await all()
  expect(await wanted(range)).toEqual([rejected, exhausted].map(placeOf))
  expect(await wanted(await all('exhausted'))).toEqual([placeOf(exhausted)])
  expect(await wanted({ ...range, eventTypes: ['webhook.delivery.parked'] })).toEqual([])
  await store.park(again, failed(again), 'rejected')
  expect(await wanted(await all('rejected'))).toEqual([rejected, again].map(placeOf))
  expect(await wanted({ ...(await all('rejected')), isFirstRun: true })).toEqual([placeOf(rejected)])
})

test('a redelivery begins only from the run that was parked', async () => {
  const delivery = await park()
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 2 })).toEqual({
    kind: 'not-parked',
  })
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 1 })).toMatchObject({
    kind: 'begun',
    record: { run: 2 },
  })
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 1 })).toMatchObject({
    kind: 'begun',
    record: { run: 2 },
  })
  await fixture.sendAgain(delivery)
  const again = { ...delivery, run: 2, attempt: 1 }
  await store.park(again, failed(again), 'rejected')
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 1 })).toEqual({
    kind: 'not-parked',
  })
  expect(await store.beginRedelivery(delivery.deliveryId, { sender: 'a', parkedRun: 2 })).toMatchObject({
    kind: 'begun',
    record: { run: 3 },
  })
})
