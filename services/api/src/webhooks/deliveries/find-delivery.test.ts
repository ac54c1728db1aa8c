import { deliveryIdOf, newEventId, newSubscriptionId, type Tenant } from '@switchhook/contracts'
import type { DeliveryRecord, PendingDelivery } from '@switchhook/store'
import { aSubscription } from '@switchhook/testkit'
import { type FindDeliveryDeps, findDelivery } from './find-delivery.ts'

const URL = 'https://client.example/hooks'
const eventId = newEventId()
const subscriptionId = newSubscriptionId()
const deliveryId = deliveryIdOf(eventId, subscriptionId)
const recordOf = (tenant: Tenant) => ({ deliveryId, tenant }) as DeliveryRecord
const pending: PendingDelivery = {
  deliveryId,
  subscriptionId,
  eventId,
  eventType: 'call.status',
  tenant: 'acme',
  firstDueAt: '2026-11-20T12:00:00.000Z',
}

interface Lookup {
  readonly record?: DeliveryRecord
  readonly pending?: PendingDelivery
}

/** The results of each lookup in order; counts lookups and waits. */
function aStore(lookups: readonly Lookup[]) {
  let waits = 0
  let count = 0
  const deps: FindDeliveryDeps = {
    deliveries: { find: async () => lookups[count++]?.record },
    deliveryLog: { pending: async () => lookups[count - 1]?.pending },
    subscriptions: { find: async () => aSubscription({ id: subscriptionId, url: URL }) },
  }
  const find = (tenant: Tenant, id: string | undefined) => findDelivery(deps, tenant, id, async () => void waits++)
  return { find, waits: () => waits, lookups: () => count }
}

test.each<[string, Lookup[], object, number]>([
  ['its record', [{ record: recordOf('acme') }], recordOf('acme'), 0],
  ['its record, although the log also has it', [{ record: recordOf('acme'), pending }], recordOf('acme'), 0],
  ['pending', [{ pending }], { ...pending, url: URL, state: 'pending', attempts: [] }, 0],
  ['pending, a moment later', [{}, { pending }], { url: URL, state: 'pending' }, 1],
  ['its record, a moment later', [{}, { record: recordOf('acme'), pending }], recordOf('acme'), 1],
])('a delivery is found: %s', async (_name, lookups, found, waits) => {
  const store = aStore(lookups)
  expect(await store.find('acme', deliveryId)).toMatchObject(found)
  expect(store.waits()).toBe(waits)
})

test.each<[string, string | undefined, Lookup[], number]>([
  ['no id', undefined, [], 0],
  ['a malformed id', '4711', [], 0],
  ['a GUID of another version', newEventId(), [{}], 1],
  ['a record of another tenant', deliveryId, [{ record: recordOf('globex'), pending }], 1],
  ['a record of the installation', deliveryId, [{ record: recordOf(null) }], 1],
  ['an unknown id', deliveryId, [{}, {}], 2],
])('not found: %s', async (_name, id, lookups, count) => {
  const store = aStore(lookups)
  await expect(store.find('acme', id)).rejects.toMatchObject({ code: 'delivery-not-found' })
  expect(store.lookups()).toBe(count)
})

test('an error of the store is not a 404', async () => {
  const deps: FindDeliveryDeps = {
    deliveries: { find: async () => undefined },
    deliveryLog: { pending: () => Promise.reject(new Error('away')) },
    subscriptions: { find: async () => undefined },
  }
  await expect(findDelivery(deps, 'acme', deliveryId)).rejects.toThrow('away')
})
