import {
  type Delivery,
  newSubscriptionId,
  newToken,
  type ParkedReason,
  type SubscriptionId,
} from '@switchhook/contracts'
import type { DeliveryArchive } from './delivery-archive.ts'
import type { DeliveryStore } from './delivery-store.ts'
import { createParkedWindow, type ParkedWindow } from './parked-window.ts'
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
  until: (await parked.newest(subscriptionId)) ?? '0',
  reason,
})

const placeOf = ({ deliveryId, run }: Delivery) => ({ deliveryId, run })

test('an empty list has no newest entry, and nothing to take or count', async () => {
  expect(await parked.newest(subscriptionId)).toBeNull()
  expect(await parked.take(subscriptionId, await all(), 10)).toEqual({ entries: [], after: null })
  expect(await parked.count(subscriptionId, await all())).toEqual({ count: 0, oldest: null, newest: null })
})

test('a range is taken in pieces, the oldest first, without deliveries that are parked later', async () => {
  const deliveries: Delivery[] = []
  for (let i = 0; i < 120; i++) deliveries.push(await park())
  const range = await all()
  await park()
  const taken: unknown[] = []
  let pieces = 0
  for (let after: string | null = range.after; after !== null; pieces++) {
    const found = await parked.take(subscriptionId, { ...range, after }, 9)
    taken.push(...found.entries)
    after = found.after
  }
  expect(taken).toEqual(deliveries.map(placeOf))
  expect(pieces).toBe(14)
  const parkedAt = async (delivery: Delivery | undefined): Promise<unknown> =>
    delivery && (await store.find(delivery.deliveryId))?.parkedAt
  expect(await parked.count(subscriptionId, range)).toEqual({
    count: 120,
    oldest: await parkedAt(deliveries.at(0)),
    newest: await parkedAt(deliveries.at(-1)),
  })
})

test('a range leaves out other reasons and deliveries that are no longer parked', async () => {
  const [rejected, exhausted, gone] = [await park('rejected'), await park(), await park()]
  // Begun but not noted as published, so it is still parked.
  await store.beginRedelivery(exhausted.deliveryId, { sender: 'a' })
  await fixture.sendAgain(gone)
  const range = await all()
  expect((await parked.take(subscriptionId, range, 9)).entries).toEqual([rejected, exhausted].map(placeOf))
  expect((await parked.take(subscriptionId, await all('exhausted'), 9)).entries).toEqual([placeOf(exhausted)])
  expect(await parked.count(subscriptionId, await all('rejected'))).toMatchObject({ count: 1 })
})

test('the whole range is scanned, even if few deliveries match', async () => {
  for (let i = 0; i < 60; i++) await park('rejected')
  const last = await park()
  const range = await all('exhausted')
  const first = await parked.take(subscriptionId, range, 5)
  expect(first).toEqual({ entries: [], after: expect.any(String) })
  const second = await parked.take(subscriptionId, { ...range, after: first.after ?? '' }, 5)
  expect(second).toEqual({ entries: [placeOf(last)], after: null })
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

test('stateOf returns the state of a run until a later run begins or the record is gone', async () => {
  const delivery = await park()
  expect(await parked.stateOf(delivery)).toBe('parked')
  const again = await fixture.sendAgain(delivery)
  expect(await parked.stateOf(delivery)).toBe('unknown')
  expect(await parked.stateOf({ ...delivery, run: 2 })).toBe('pending')
  const next = { token: newToken(), postponed: 0 }
  await store.settle(again, null, { state: 'held', slot: 0, next, dueInMs: 0, lookInMs: 60_000 })
  expect(await parked.stateOf(again)).toBe('held')
  expect(await parked.stateOf({ ...delivery, deliveryId: deliveryOf({ subscriptionId }).deliveryId })).toBe('unknown')
})
