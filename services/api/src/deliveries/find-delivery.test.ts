import { deliveryIdOf, newEventId, newSubscriptionId } from '@switchhook/contracts'
import type { DeliveryRecord, PendingDelivery } from '@switchhook/store'
import { createFindDelivery } from './find-delivery.ts'

const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const deliveryId = deliveryIdOf(eventId, subscriptionId)
const recordOf = (tenant: string | null) => ({ deliveryId, tenant }) as DeliveryRecord
const pending: PendingDelivery = {
  deliveryId,
  subscriptionId,
  eventId,
  eventType: 'call.status',
  tenant: 'acme',
  firstDueAt: '2026-11-20T12:00:00.000Z',
}

interface Look {
  readonly record?: DeliveryRecord
  readonly pending?: PendingDelivery
}

/** What each look sees, one after another; and how often there was a wait. */
function aWorld(looks: readonly Look[]) {
  let waits = 0
  let looked = 0
  const find = createFindDelivery({
    find: async () => looks[looked++]?.record,
    findPending: async () => looks[looked - 1]?.pending,
    wait: async () => void waits++,
  })
  return { find, waits: () => waits, looks: () => looked }
}

test.each<[string, Look[], object, number]>([
  ['its record', [{ record: recordOf('acme') }], { kind: 'recorded', record: recordOf('acme') }, 0],
  ['its record, although the log has it as well', [{ record: recordOf('acme'), pending }], { kind: 'recorded' }, 0],
  ['pending', [{ pending }], { kind: 'pending', delivery: pending }, 0],
  ['pending, a moment later', [{}, { pending }], { kind: 'pending' }, 1],
  ['its record, a moment later', [{}, { record: recordOf('acme'), pending }], { kind: 'recorded' }, 1],
])('a delivery is found: %s', async (_name, looks, found, waits) => {
  const world = aWorld(looks)
  expect(await world.find('acme', deliveryId)).toMatchObject(found)
  expect(world.waits()).toBe(waits)
})

test.each<[string, string | undefined, Look[], number]>([
  ['nothing at all', undefined, [], 0],
  ['a malformed id', '4711', [], 0],
  ['a GUID of another version', newEventId(), [{}], 1],
  ['a record of another tenant', deliveryId, [{ record: recordOf('globex'), pending }], 1],
  ['a record of the installation', deliveryId, [{ record: recordOf(null) }], 1],
  ['an id that never was', deliveryId, [{}, {}], 2],
])('not found: %s', async (_name, id, looks, looked) => {
  const world = aWorld(looks)
  await expect(world.find('acme', id)).rejects.toMatchObject({ code: 'delivery-not-found' })
  expect(world.looks()).toBe(looked)
})

test('an error of the store is no 404', async () => {
  const find = createFindDelivery({
    find: async () => undefined,
    findPending: () => Promise.reject(new Error('away')),
    wait: async () => {},
  })
  await expect(find('acme', deliveryId)).rejects.toThrow('away')
})
