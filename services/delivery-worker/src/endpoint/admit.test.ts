import { type Delivery, type Signing, SUBSCRIPTION_LEASE_MS, type Subscription } from '@switchhook/contracts'
import { aDeliveryTo } from '@switchhook/servicekit'
import type { EndpointHealth, RemovedSubscription } from '@switchhook/store'
import { aSubscription } from '@switchhook/testkit'
import { type Admission, createAdmit, type Reading } from './admit.ts'

const subscription = aSubscription()
const first = aDeliveryTo(subscription)

const ASKED_AT_MS = 1_000
const atNoon = (): number => Date.parse('2026-11-20T12:00:00.000Z')
const health: EndpointHealth = { state: 'closed', consecutiveFailures: 2, openUntilMs: null, recentHangs: 0 }

const admitWith = (
  stored: Subscription | undefined,
  delivery: Delivery,
  redisNow = Date.now,
  removed?: RemovedSubscription,
): Promise<Reading> =>
  createAdmit({
    readEndpoint: async () => ({ health, subscription: stored }),
    isFailing: () => false,
    findRemoved: async () => removed,
    canSign: ({ signing, headers }) => ![signing?.secret, headers?.['authorization']].includes('of a lost key'),
    redisNow,
    nowMs: () => ASKED_AT_MS,
  })(delivery)

/** The part of an admission that does not depend on the delivery. */
const found = { health, trustedUntilMs: ASKED_AT_MS + SUBSCRIPTION_LEASE_MS }

const admitted = (delivery: Delivery): Pick<Reading, 'admission'> => ({ admission: { kind: 'admitted', delivery } })

function deliveryOf(admission: Admission): Delivery {
  if (admission.kind !== 'admitted') throw new Error(`the admission is ${admission.kind}`)
  return admission.delivery
}

const signingBy = (secret: string): Signing => ({ id: secret, secret, since: first.firstDueAt, former: [] })

describe('admit', () => {
  test('a first attempt is sent while its subscription exists and is enabled', async () => {
    await expect(admitWith(subscription, first)).resolves.toEqual({ ...admitted(first), ...found })
  })

  test('a first attempt is sent to the subscription’s current url', async () => {
    const url = 'https://client.example/moved'
    const moved = { ...subscription, url }
    await expect(admitWith(moved, first)).resolves.toEqual({ ...admitted({ ...first, url }), ...found })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
  ])('no first attempt is sent once the subscription is %s', async (_name, stored) => {
    await expect(admitWith(stored, first)).resolves.toEqual({ admission: { kind: 'withdrawn' }, ...found })
  })

  test.each<[Partial<Subscription>, number]>([
    [{ paused: true }, 60_000],
    [{ pausedUntil: '2026-11-20T12:00:05.000Z' }, 5_000],
    [{ paused: true, pausedUntil: '2026-11-20T12:00:05.000Z' }, 60_000],
    [{ pausedUntil: '2026-11-20T13:00:00.000Z' }, 60_000],
    [{ mode: 'pull', url: '' }, 600_000],
  ])('a delivery is held while its subscription has %j, and visited after %i ms', async (settings, visitInMs) => {
    const holding = { ...subscription, ...settings }
    for (const delivery of [first, { ...first, slot: 2, attempt: 2 }]) {
      await expect(admitWith(holding, delivery, atNoon)).resolves.toEqual({
        admission: { kind: 'held', visitInMs },
        ...found,
      })
    }
    // The order of the checks: what is not wanted is withdrawn, and what was attempted waits for the end of the pause.
    const disabled = { ...holding, enabled: false }
    await expect(admitWith(disabled, first)).resolves.toMatchObject({ admission: { kind: 'withdrawn' } })
    await expect(admitWith(disabled, { ...first, attempt: 1 }, atNoon)).resolves.toMatchObject({
      admission: { kind: 'held' },
    })
  })

  test('a pause that is over holds nothing', async () => {
    const resumed = { ...subscription, pausedUntil: '2026-11-20T12:00:00.000Z' }
    await expect(admitWith(resumed, first, atNoon)).resolves.toMatchObject(admitted(first))
  })

  test('a delivery that clients received, and whose subscription was deleted, is parked: it has no endpoint', async () => {
    await expect(admitWith(undefined, { ...first, url: '', attempt: 1 })).resolves.toMatchObject({
      admission: { kind: 'withdrawn', wasParked: true },
    })
  })

  test('no first attempt is sent for an event type that was removed from the subscription', async () => {
    const narrowed: Subscription = { ...subscription, eventTypes: ['agent.status'] }
    await expect(admitWith(narrowed, first)).resolves.toMatchObject({ admission: { kind: 'withdrawn' } })
  })

  test.each<[string, Subscription | undefined]>([
    ['deleted', undefined],
    ['disabled', { ...subscription, enabled: false }],
    ['narrowed', { ...subscription, eventTypes: ['agent.status'] }],
  ])(
    'a delivery that was parked without an attempt and sent again is not lost if its subscription is %s',
    async (_name, stored) => {
      await expect(admitWith(stored, { ...first, run: 2 })).resolves.toMatchObject({
        admission: { kind: 'withdrawn', wasParked: true },
      })
    },
  )

  test.each<[string, Partial<Delivery>]>([
    ['a first attempt', {}],
    ['a retry', { attempt: 1, slot: 1 }],
  ])('%s is withheld once its event has expired', async (_name, change) => {
    const limited: Subscription = { ...subscription, expireAfterSeconds: 10 }
    const bodyOf = (ageMs: number) =>
      Buffer.from(`{"occurredAt":"${new Date(Date.now() - ageMs).toISOString()}","data":{"state":2}}`)
    const [young, old] = [
      { ...first, ...change, body: bodyOf(0) },
      { ...first, ...change, body: bodyOf(11_000) },
    ]
    await expect(admitWith(limited, young)).resolves.toMatchObject(admitted(young))
    await expect(admitWith(limited, old)).resolves.toMatchObject({ admission: { kind: 'expired' } })
    await expect(admitWith(subscription, old)).resolves.toMatchObject(admitted(old))
  })

  test('a retry of a deleted subscription is signed with its last secret, not with one that was revoked', async () => {
    const retry: Delivery = { ...first, attempt: 1, slot: 1, signing: signingBy('revoked'), headers: { key: 'old' } }
    const last = { url: retry.url, signing: signingBy('last'), headers: { key: 'new' } }
    const { admission } = await admitWith(undefined, retry, Date.now, last)
    expect({ admission }).toEqual(admitted({ ...retry, signing: last.signing, headers: last.headers }))
    await expect(admitWith(undefined, retry)).resolves.toMatchObject(admitted(retry))
    await expect(admitWith(undefined, { ...retry, attempt: 0 }, Date.now, last)).resolves.toMatchObject({
      admission: { kind: 'withdrawn' },
    })
  })

  describe('the headers of a subscription', () => {
    const headers = { authorization: 'sealed' }
    const earlier = { authorization: 'sealed before' }
    const withHeaders: Subscription = { ...subscription, headers }
    const retry: Delivery = { ...first, attempt: 1, slot: 1, headers: earlier }

    test.each<[string, Subscription | undefined, Delivery, Delivery['headers']]>([
      ['the current ones, for a first attempt', withHeaders, first, headers],
      ['the current ones, for a retry', withHeaders, retry, headers],
      ['none, for a retry, once they were removed', subscription, retry, undefined],
      ['its own, for a retry that outlives its subscription', undefined, retry, earlier],
      [
        'the current ones, for a retry to another path of the host',
        { ...withHeaders, url: new URL('/moved', subscription.url).href },
        retry,
        headers,
      ],
      [
        'its own, for a retry to another host than the current one',
        { ...withHeaders, url: 'https://other.example/hooks' },
        retry,
        earlier,
      ],
    ])('%s', async (_name, stored, delivery, expected) => {
      const { admission } = await admitWith(stored, delivery)
      expect(deliveryOf(admission).headers).toEqual(expected)
    })

    test.each<[string, Partial<Subscription>, boolean]>([
      ['withhold a delivery until they are replaced', { headers: { authorization: 'of a lost key' } }, false],
      ['withhold a retry for good if they are those of a host that was left', { url: 'https://other.example/' }, true],
    ])('that cannot be decrypted %s', async (_name, change, isFinal) => {
      const lost = { ...retry, headers: { authorization: 'of a lost key' } }
      await expect(admitWith({ ...withHeaders, ...change }, lost)).resolves.toMatchObject({
        admission: { kind: 'unsignable', isFinal },
      })
    })
  })

  test('a trial may have any event type, but needs an enabled subscription', async () => {
    const trial: Delivery = { ...first, eventType: 'agent.status', trial: 'test' }
    await expect(admitWith(subscription, trial)).resolves.toMatchObject(admitted(trial))
    const disabled = { ...subscription, enabled: false }
    await expect(admitWith(disabled, trial)).resolves.toMatchObject({ admission: { kind: 'withdrawn' } })
  })

  test('a delivery that the tenant asked for may have any event type, but needs an enabled subscription', async () => {
    const requested: Delivery = { ...first, eventType: 'agent.status', isRequested: true }
    await expect(admitWith(subscription, requested)).resolves.toMatchObject(admitted(requested))
    const disabled = { ...subscription, enabled: false }
    await expect(admitWith(disabled, requested)).resolves.toMatchObject({ admission: { kind: 'withdrawn' } })
  })

  describe('with a filter', () => {
    const filtered: Subscription = { ...subscription, filter: { 'call.status': { state: [7] } } }
    const inState = (state: number): Delivery => ({ ...first, body: Buffer.from(JSON.stringify({ data: { state } })) })

    test('a first attempt is sent if the filter passes its event, and says that the sequence has gaps', async () => {
      const sparse = { ...inState(7), isSparse: true as const }
      await expect(admitWith(filtered, inState(7))).resolves.toMatchObject(admitted(sparse))
      const steady = { ...subscription, filter: { 'agent.status': { statusCode: [1] } } }
      await expect(admitWith(steady, inState(6))).resolves.toEqual({ ...admitted(inState(6)), ...found })
    })

    test('no first attempt is sent for an event that the present filter refuses', async () => {
      await expect(admitWith(filtered, inState(6))).resolves.toMatchObject({ admission: { kind: 'withdrawn' } })
    })

    test.each<[string, Partial<Delivery>]>([
      ['a retry', { slot: 1, attempt: 1 }],
      ['a trial', { trial: 'test' }],
      ['a delivery that the tenant asked for', { isRequested: true }],
    ])('%s is sent whatever the filter', async (_name, change) => {
      const delivery = { ...inState(6), ...change }
      await expect(admitWith(filtered, delivery)).resolves.toMatchObject(admitted(delivery))
    })

    test('a retry keeps what its first attempt said about gaps', async () => {
      const retry = { ...inState(7), slot: 1, attempt: 1, isSparse: true } as const
      await expect(admitWith(subscription, retry)).resolves.toMatchObject({
        admission: { delivery: { isSparse: true } },
      })
      const before = { ...inState(7), slot: 1, attempt: 1 }
      const { admission } = await admitWith(filtered, before)
      expect(deliveryOf(admission)).not.toHaveProperty('isSparse')
    })
  })

  test('a retry for a removed event type keeps its schedule', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const narrowed: Subscription = { ...subscription, eventTypes: ['agent.status'] }
    await expect(admitWith(narrowed, retry)).resolves.toMatchObject(admitted(retry))
  })

  test('a delivery that has failed keeps its schedule and url, even if its subscription is deleted', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ ...admitted(retry), ...found })
  })

  test('a retry keeps its url when the subscription’s url changes', async () => {
    const retry = { ...first, slot: 1, attempt: 1 }
    const moved = { ...subscription, url: 'https://client.example/moved', enabled: false }
    await expect(admitWith(moved, retry)).resolves.toEqual({ ...admitted(retry), ...found })
  })

  test.each([0, 1])(
    'after %i attempts, a delivery is signed with the subscription’s current secret',
    async (attempt) => {
      const due = { ...first, attempt, signing: signingBy('before') }
      const stored = { ...subscription, signing: signingBy('now') }
      const signed = { ...due, signing: signingBy('now') }
      await expect(admitWith(stored, due)).resolves.toEqual({ ...admitted(signed), ...found })
    },
  )

  test('a retry of a deleted subscription is signed with the subscription’s last secret', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('before') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({ ...admitted(retry), ...found })
  })

  test.each([0, 1])(
    'after %i attempts, a delivery whose secret cannot be decrypted is not sent unsigned',
    async (attempt) => {
      const stored = { ...subscription, signing: signingBy('of a lost key') }
      await expect(admitWith(stored, { ...first, attempt })).resolves.toEqual({
        admission: { kind: 'unsignable', isFinal: false },
        ...found,
      })
    },
  )

  test('a delivery of a deleted subscription whose secret cannot be decrypted is withheld for good', async () => {
    const retry = { ...first, slot: 1, attempt: 1, signing: signingBy('of a lost key') }
    await expect(admitWith(undefined, retry)).resolves.toEqual({
      admission: { kind: 'unsignable', isFinal: true },
      ...found,
    })
  })
})
