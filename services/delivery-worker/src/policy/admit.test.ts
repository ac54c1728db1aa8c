import {
  type Delivery,
  deliveryIdOf,
  newEventId,
  newSubscriptionId,
  type Signing,
  SUBSCRIPTION_LEASE_MS,
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

const ASKED_AT_MS = 1_000
const health: EndpointHealth = { state: 'closed', consecutiveFailures: 2, openUntilMs: null }

const admitWith = (found: Subscription | undefined, delivery: Delivery): Promise<Admission> =>
  createAdmit({
    look: async () => ({ health, subscription: found }),
    canSign: ({ signing }) => signing?.secret !== 'of a lost key',
    nowMs: () => ASKED_AT_MS,
  })(delivery)

/** What is found of a subscription, and how long a first attempt may rely on it. */
const found = (subscription: Subscription | undefined) => ({
  health,
  ...(subscription !== undefined && {
    lease: { subscription, trustedUntilMs: ASKED_AT_MS + SUBSCRIPTION_LEASE_MS },
  }),
})

const signingBy = (secret: string): Signing => ({ id: secret, secret, since: first.firstDueAt, former: [] })

describe('admit', () => {
  test('a first attempt leaves while its subscription is there and enabled', async () => {
    await expect(admitWith(subscription, first)).resolves.toEqual({ admitted: first, ...found(subscription) })
  })

  test('a first attempt goes to the url that the subscription has now', async () => {
    const url = 'https://client.example/moved'
    const moved = { ...subscription, url }
    await expect(admitWith(moved, first)).resolves.toEqual({ admitted: { ...first, url }, ...found(moved) })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
  ])('no first attempt leaves once the subscription is %s', async (_name, stored) => {
    await expect(admitWith(stored, first)).resolves.toEqual({ admitted: { kind: 'withdrawn' }, ...found(stored) })
  })

  test('no first attempt leaves for an event type that was removed from the subscription', async () => {
    const narrowed: Subscription = { ...subscription, eventTypes: ['agent.status'] }
    await expect(admitWith(narrowed, first)).resolves.toMatchObject({ admitted: { kind: 'withdrawn' } })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
    ['narrowed', { ...subscription, eventTypes: ['agent.status'] }],
  ])(
    'a delivery that was parked without an attempt and sent again is not lost if its subscription is %s',
    async (_name, stored) => {
      await expect(admitWith(stored, { ...first, run: 2 })).resolves.toMatchObject({
        admitted: { kind: 'withdrawn', wasParked: true },
      })
    },
  )

  test('a test delivery may have any event type, but needs an enabled subscription', async () => {
    const trial: Delivery = { ...first, eventType: 'agent.status', trial: 'test' }
    await expect(admitWith(subscription, trial)).resolves.toMatchObject({ admitted: trial })
    const disabled = { ...subscription, enabled: false }
    await expect(admitWith(disabled, trial)).resolves.toMatchObject({ admitted: { kind: 'withdrawn' } })
  })

  test('a retry of an event type that was removed keeps its schedule', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const narrowed: Subscription = { ...subscription, eventTypes: ['agent.status'] }
    await expect(admitWith(narrowed, retry)).resolves.toMatchObject({ admitted: retry })
  })

  test('a delivery that has failed before keeps its schedule and url, whatever became of its subscription', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ admitted: retry, ...found(undefined) })
  })

  test('a retry goes to the url that it had, also while its subscription has another', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const moved = { ...subscription, url: 'https://client.example/moved', enabled: false }
    await expect(admitWith(moved, retry)).resolves.toEqual({ admitted: retry, ...found(moved) })
  })

  test.each([0, 1])('after %i attempts it is signed as its subscription says now', async (attempt) => {
    const due = { ...first, attempt, signing: signingBy('before') }
    const stored = { ...subscription, signing: signingBy('now') }
    const admitted = { ...due, signing: signingBy('now') }
    await expect(admitWith(stored, due)).resolves.toEqual({ admitted, ...found(stored) })
  })

  test('a retry that has outlived its subscription is signed as that said last', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('before') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ admitted: retry, ...found(undefined) })
  })

  test.each([0, 1])('after %i attempts, it is not sent unsigned where its secret cannot be opened', async (attempt) => {
    const stored = { ...subscription, signing: signingBy('of a lost key') }
    await expect(admitWith(stored, { ...first, attempt })).resolves.toEqual({
      admitted: { kind: 'unsignable', isForGood: false },
      ...found(stored),
    })
  })

  test('where its subscription has gone as well, it never will be', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('of a lost key') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({
      admitted: { kind: 'unsignable', isForGood: true },
      ...found(undefined),
    })
  })
})
