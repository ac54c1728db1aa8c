import {
  type CheckResult,
  type Delivery,
  newEventId,
  newSubscriptionId,
  type Outcome,
  type ReceiverCheck,
  type Subscription,
} from '@switchhook/contracts'
import { createCheckReceiver } from './check-receiver.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00.000Z')
const ok: Outcome = { kind: 'delivered', status: 204 }

function aWorld(
  outcome: (delivery: Delivery, attempt: number) => Outcome,
  subscription: object | null = {},
  canSign = true,
) {
  const id = newSubscriptionId()
  const strays: true[] = [true]
  const posts: { delivery: Delivery; attempt: number }[] = []
  const saved: [string, CheckResult][] = []
  let elapsedMs = 0
  const check: ReceiverCheck = {
    checkId: newEventId(),
    subscriptionId: id,
    tenant: 'acme',
    eventType: 'agent.status',
    expiresAt: new Date(NOW_MS + 30_000).toISOString(),
  }
  const found = { id, tenant: 'acme', url: 'https://client.example/hook', ...subscription } as Subscription
  const run = createCheckReceiver({
    subscriptions: { find: async () => (subscription === null ? undefined : found) },
    client: {
      canSign: () => canSign,
      sendsStrays: (url) => url === found.url && strays.length > 0,
      forgetStrays: () => void strays.splice(0),
      deadlineMs: 10_000,
      postUnderLease: () => async (delivery, attempt, _trustedUntilMs, options) => {
        const take = options?.take
        if (take !== undefined && (await take(false)) === undefined) return { kind: 'held', visitInMs: 0 }
        posts.push({ delivery, attempt })
        elapsedMs += 40
        return { kind: 'posted', delivery, outcome: outcome(delivery, attempt), durationMs: 40 }
      },
    },
    postLimits: { withPermits: async (limited, _delivery, _isProbe, post) => post(limited && (async () => undefined)) },
    checks: { save: async (checkId, facts) => void saved.push([checkId, facts]) },
    // Set back during the first POST.
    redisNow: () => (elapsedMs === 0 ? NOW_MS : NOW_MS - 3_600_000),
  })
  return { run, check, posts, saved, strays }
}

test('an endpoint gets a delivery and its duplicate, byte for byte the same', async () => {
  const { run, check, posts, saved } = aWorld(() => ok)
  await run(check)
  expect(posts.map(({ attempt, delivery }) => [attempt, delivery.trial, delivery.url, delivery.eventType])).toEqual([
    [1, 'test', 'https://client.example/hook', 'agent.status'],
    [2, 'test', 'https://client.example/hook', 'agent.status'],
  ])
  expect(posts[1]?.delivery).toEqual(posts[0]?.delivery)
  expect(JSON.parse(String(posts[0]?.delivery.body))).toMatchObject({
    deliveryId: posts[0]?.delivery.deliveryId,
    eventType: 'agent.status',
    occurredAt: '2026-01-01T00:00:00.000Z',
    tenant: 'acme',
  })
  expect(saved).toEqual([
    [
      check.checkId,
      {
        deadlineMs: 10_000,
        isSigned: false,
        plain: { outcome: 'delivered', status: 204, durationMs: 40 },
        duplicate: { outcome: 'delivered', status: 204, durationMs: 40 },
        sendsStrays: false,
      },
    ],
  ])
})

test('if deliveries are signed, the endpoint also gets a forged and a stale one under new ids', async () => {
  const signing = { secrets: ['a'] }
  const { run, check, posts, saved } = aWorld(
    ({ trial }) => (trial === 'test' ? ok : { kind: 'answered', status: 401 }),
    { signing },
  )
  await run(check)
  expect(posts.map(({ delivery }) => delivery.trial)).toEqual(['test', 'test', 'forged', 'stale'])
  expect(new Set(posts.map(({ delivery }) => delivery.deliveryId)).size).toBe(3)
  for (const { delivery } of posts) expect(delivery).toMatchObject({ signing })
  expect(saved[0]?.[1]).toMatchObject({
    isSigned: true,
    forged: { outcome: 'answered', status: 401 },
    stale: { outcome: 'answered', status: 401 },
  })
})

test('after a failed first delivery nothing else is sent', async () => {
  const { run, check, posts, saved } = aWorld(() => ({ kind: 'unreachable', reason: 'tls' }), { signing: {} })
  await run(check)
  expect(posts).toHaveLength(1)
  expect(saved[0]?.[1]).toEqual({
    deadlineMs: 10_000,
    isSigned: true,
    plain: { outcome: 'tls', status: null, durationMs: 40 },
  })
})

test('an expired check sends nothing', async () => {
  const { run, check, posts, saved } = aWorld(() => ok)
  await run({ ...check, expiresAt: new Date(NOW_MS - 1).toISOString() })
  expect([posts, saved]).toEqual([[], []])
})

test('for a deleted subscription or a secret that cannot be decrypted, nothing is sent and the result says so', async () => {
  for (const [refused, subscription, canSign] of [
    ['subscription-not-found', null, true],
    ['secret-unavailable', {}, false],
  ] as const) {
    const { run, check, posts, saved } = aWorld(() => ok, subscription, canSign)
    await run(check)
    expect([posts, saved]).toEqual([[], [[check.checkId, { refused }]]])
  }
})

test('what was known of the kept connections of an endpoint is forgotten, and what they show now is reported', async () => {
  const { run, check, saved, strays } = aWorld((_delivery, attempt) => {
    if (attempt === 2) strays.push(true)
    return ok
  })
  await run(check)
  expect(saved[0]?.[1]).toMatchObject({ sendsStrays: true })
})
