import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type Signing,
  type Subscription,
} from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import { type Admission, createAdmit } from './admit.ts'

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

const health: EndpointHealth = { state: 'closed', consecutiveFailures: 2, openUntilMs: null }

const admitWith = (found: Subscription | undefined, delivery: Delivery): Promise<Admission> =>
  createAdmit({
    look: async () => ({ health, subscription: found }),
    canSign: ({ signing }) => signing?.secret !== 'of a lost key',
  })(delivery)

const signingBy = (secret: string): Signing => ({ id: secret, secret, since: first.firstDueAt, former: [] })

describe('admit', () => {
  test('a first attempt leaves while its subscription is there and enabled', async () => {
    await expect(admitWith(subscription, first)).resolves.toEqual({ admitted: first, health })
  })

  test('a first attempt goes to the url that the subscription has now', async () => {
    const url = 'https://client.example/moved'
    await expect(admitWith({ ...subscription, url }, first)).resolves.toEqual({ admitted: { ...first, url }, health })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
  ])('no first attempt leaves once the subscription is %s', async (_name, found) => {
    await expect(admitWith(found, first)).resolves.toEqual({ admitted: { kind: 'withdrawn' }, health })
  })

  test('a delivery that has failed before keeps its schedule and url, whatever became of its subscription', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ admitted: retry, health })
  })

  test('a retry goes to the url that it had, also while its subscription has another', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const moved = { ...subscription, url: 'https://client.example/moved', enabled: false }
    await expect(admitWith(moved, retry)).resolves.toEqual({ admitted: retry, health })
  })

  test.each([0, 1])('after %i attempts it is signed as its subscription says now', async (attempt) => {
    const due = { ...first, attempt, signing: signingBy('before') }
    const found = { ...subscription, signing: signingBy('now') }
    await expect(admitWith(found, due)).resolves.toEqual({ admitted: { ...due, signing: signingBy('now') }, health })
  })

  test('a retry that has outlived its subscription is signed as that said last', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('before') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ admitted: retry, health })
  })

  test.each([0, 1])('after %i attempts, it is not sent unsigned where its secret cannot be opened', async (attempt) => {
    const found = { ...subscription, signing: signingBy('of a lost key') }
    await expect(admitWith(found, { ...first, attempt })).resolves.toEqual({
      admitted: { kind: 'unsignable', isForGood: false },
      health,
    })
  })

  test('where its subscription has gone as well, it never will be', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('of a lost key') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({
      admitted: { kind: 'unsignable', isForGood: true },
      health,
    })
  })
})
