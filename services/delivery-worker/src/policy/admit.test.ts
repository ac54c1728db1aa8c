import { type Delivery, type Signing, SUBSCRIPTION_LEASE_MS, type Subscription } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import { aDeliveryTo, aSubscription } from '../testing/deliveries.ts'
import { type Admission, createAdmit } from './admit.ts'

const subscription = aSubscription()
const first = aDeliveryTo(subscription)

const ASKED_AT_MS = 1_000
const health: EndpointHealth = { state: 'closed', consecutiveFailures: 2, openUntilMs: null }

const admitWith = (stored: Subscription | undefined, delivery: Delivery): Promise<Admission> =>
  createAdmit({
    look: async () => ({ health, subscription: stored }),
    isFailing: () => false,
    canSign: ({ signing }) => signing?.secret !== 'of a lost key',
    nowMs: () => ASKED_AT_MS,
  })(delivery)

/** The part of an admission that does not depend on the delivery. */
const found = { health, trustedUntilMs: ASKED_AT_MS + SUBSCRIPTION_LEASE_MS }

const signingBy = (secret: string): Signing => ({ id: secret, secret, since: first.firstDueAt, former: [] })

describe('admit', () => {
  test('a first attempt is sent while its subscription exists and is enabled', async () => {
    await expect(admitWith(subscription, first)).resolves.toEqual({ admitted: first, ...found })
  })

  test('a first attempt is sent to the subscription’s current url', async () => {
    const url = 'https://client.example/moved'
    const moved = { ...subscription, url }
    await expect(admitWith(moved, first)).resolves.toEqual({ admitted: { ...first, url }, ...found })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
  ])('no first attempt is sent once the subscription is %s', async (_name, stored) => {
    await expect(admitWith(stored, first)).resolves.toEqual({ admitted: { kind: 'withdrawn' }, ...found })
  })

  test('no first attempt is sent for an event type that was removed from the subscription', async () => {
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

  test('a trial may have any event type, but needs an enabled subscription', async () => {
    const trial: Delivery = { ...first, eventType: 'agent.status', trial: 'test' }
    await expect(admitWith(subscription, trial)).resolves.toMatchObject({ admitted: trial })
    const disabled = { ...subscription, enabled: false }
    await expect(admitWith(disabled, trial)).resolves.toMatchObject({ admitted: { kind: 'withdrawn' } })
  })

  test('a delivery that the tenant asked for may have any event type, but needs an enabled subscription', async () => {
    const requested: Delivery = { ...first, eventType: 'agent.status', isRequested: true }
    await expect(admitWith(subscription, requested)).resolves.toMatchObject({ admitted: requested })
    const disabled = { ...subscription, enabled: false }
    await expect(admitWith(disabled, requested)).resolves.toMatchObject({ admitted: { kind: 'withdrawn' } })
  })

  test('a retry for a removed event type keeps its schedule', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const narrowed: Subscription = { ...subscription, eventTypes: ['agent.status'] }
    await expect(admitWith(narrowed, retry)).resolves.toMatchObject({ admitted: retry })
  })

  test('a delivery that has failed keeps its schedule and url, even if its subscription is deleted', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ admitted: retry, ...found })
  })

  test('a retry keeps its url when the subscription’s url changes', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const moved = { ...subscription, url: 'https://client.example/moved', enabled: false }
    await expect(admitWith(moved, retry)).resolves.toEqual({ admitted: retry, ...found })
  })

  test.each([0, 1])(
    'after %i attempts, a delivery is signed with the subscription’s current secret',
    async (attempt) => {
      const due = { ...first, attempt, signing: signingBy('before') }
      const stored = { ...subscription, signing: signingBy('now') }
      const admitted = { ...due, signing: signingBy('now') }
      await expect(admitWith(stored, due)).resolves.toEqual({ admitted, ...found })
    },
  )

  test('a retry of a deleted subscription is signed with the subscription’s last secret', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('before') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ admitted: retry, ...found })
  })

  test.each([0, 1])(
    'after %i attempts, a delivery whose secret cannot be decrypted is not sent unsigned',
    async (attempt) => {
      const stored = { ...subscription, signing: signingBy('of a lost key') }
      await expect(admitWith(stored, { ...first, attempt })).resolves.toEqual({
        admitted: { kind: 'unsignable', isFinal: false },
        ...found,
      })
    },
  )

  test('a delivery of a deleted subscription whose secret cannot be decrypted is withheld for good', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('of a lost key') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({
      admitted: { kind: 'unsignable', isFinal: true },
      ...found,
    })
  })
})
