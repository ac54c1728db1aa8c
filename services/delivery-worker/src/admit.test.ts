import { type Delivery, deliveryIdOf, newEventId, newSubscriptionId, type Subscription } from '@switchhook/contracts'
import { createAdmit } from './admit.ts'

const eventId = newEventId()
const id = newSubscriptionId()
const subscription: Subscription = {
  id,
  tenant: 'acme',
  url: 'https://client.example/hook',
  eventTypes: ['call.status'],
  description: null,
  enabled: true,
  createdAt: '2026-01-01T00:00:00.000Z',
}
const first: Delivery = {
  deliveryId: deliveryIdOf(eventId, id),
  subscriptionId: id,
  eventId,
  eventType: 'call.status',
  tenant: 'acme',
  url: subscription.url,
  run: 1,
  slot: 0,
  attempt: 0,
  firstDueAt: '2026-01-01T00:00:00.000Z',
  body: Buffer.from('{}'),
}

describe('admit', () => {
  test('a first attempt leaves while its subscription is there and enabled', async () => {
    await expect(createAdmit(async () => subscription)(first)).resolves.toEqual(first)
  })

  test('a first attempt goes to the url that the subscription has now', async () => {
    const admit = createAdmit(async () => ({ ...subscription, url: 'https://client.example/moved' }))
    await expect(admit(first)).resolves.toEqual({ ...first, url: 'https://client.example/moved' })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
  ])('no first attempt leaves once the subscription is %s', async (_name, found) => {
    await expect(createAdmit(async () => found)(first)).resolves.toEqual({ kind: 'withdrawn' })
  })

  test('a delivery that has failed before keeps its schedule and url, whatever became of its subscription', async () => {
    const admit = createAdmit(async () => undefined)
    await expect(admit({ ...first, slot: 1, attempt: 1 })).resolves.toEqual({ ...first, slot: 1, attempt: 1 })
  })
})
