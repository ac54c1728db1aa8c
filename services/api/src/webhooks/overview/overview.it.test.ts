import { parseSubscriptionId } from '@switchhook/contracts'
import { attemptOf, logFanOut, loggedEvent, newDelivery, type Surroundings, waitingUntil } from '@switchhook/servicekit'
import {
  createBreakerStore,
  createContactStore,
  createDeliveryPolicyStore,
  createDeliveryStore,
  createStatisticsStore,
  type Redis,
} from '@switchhook/store'
import { eventually, UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { ApiUnderTest } from '../../testing/api-under-test.ts'
import { useApi } from '../../testing/use-api.ts'

const WEBHOOKS = '/api/v1/webhooks'
const HOUR_MS = 3_600_000
const ALICE = 'sip:alice@acme.example'

let around: Surroundings<'acme' | 'globex'>
let api: ApiUnderTest
let redis: Redis

useApi(['acme', 'globex'], (world) => ({ around, api, redis } = world), {
  STATISTICS_SUBSCRIPTIONS: '1',
  EGRESS_ADDRESSES: '203.0.113.0/28',
})

const get = async (path: string, tenant: 'acme' | 'globex' = 'acme') => {
  const { status, body } = await api.call('GET', `${WEBHOOKS}${path}`, { headers: around.bearer(tenant) })
  return {
    status,
    body: body as Record<string, unknown> & { items: Record<string, unknown>[]; nextCursor: string | null },
  }
}

async function subscribe(url: string, tenant: 'acme' | 'globex' = 'acme'): Promise<string> {
  const json = { url, eventTypes: ['call.status'] }
  const { body } = await api.call('POST', `${WEBHOOKS}/subscriptions`, { headers: around.bearer(tenant), json })
  return (body as { id: string }).id
}

const store = () =>
  createDeliveryStore(
    redis,
    { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled },
    UNLIMITED,
    unverified,
  )

/** Fans out an event about alice to a subscription, and parks its delivery after an answer with this status. */
async function park(subscription: string, status: number, { tenant = 'acme', callId = 'a' } = {}): Promise<string> {
  const subject = { callId, agentUri: ALICE, correlationId: null }
  const body = Buffer.from(JSON.stringify({ data: { callId, agentUri: ALICE } }))
  const delivery = newDelivery(subscription, { tenant, body })
  const { eventId, subscriptionId } = delivery
  await logFanOut(redis, loggedEvent({ eventId, tenant, subscriptionIds: [subscriptionId], subject }))
  await store().park(delivery, attemptOf(delivery, { status }), status === 410 ? 'rejected' : 'exhausted')
  return delivery.deliveryId
}

describe('parked deliveries of several endpoints', () => {
  let ill: string
  let gone: string
  const parked: string[] = []

  beforeAll(async () => {
    await around.redis.flush()
    ill = await subscribe('https://ill.example/')
    gone = await subscribe('https://gone.example/')
    await subscribe('https://well.example/')
    const foreign = await subscribe('https://foreign.example/', 'globex')
    parked.push(await park(ill, 503), await park(gone, 410, { callId: 'b' }), await park(ill, 503))
    await park(foreign, 503, { tenant: 'globex' })
    const delivery = newDelivery(ill, { slot: 2 })
    const { eventId, subscriptionId } = delivery
    await logFanOut(redis, loggedEvent({ eventId, subscriptionIds: [subscriptionId] }))
    const nextAttemptAt = new Date(Date.now() + HOUR_MS).toISOString()
    await store().settle(delivery, attemptOf(delivery), waitingUntil(nextAttemptAt, 3))
    const held = newDelivery(ill, { slot: 1 })
    await logFanOut(redis, loggedEvent({ eventId: held.eventId, subscriptionIds: [subscriptionId] }))
    const next = { token: 'a', postponed: 0 }
    await store().settle(held, attemptOf(held), { state: 'held', slot: 2, next, dueInMs: 0, visitInMs: HOUR_MS })
    const contact = {
      successAtMs: null,
      failureAtMs: Date.now(),
      failure: { outcome: 'answered', status: 503 },
    } as const
    await createContactStore(redis).record({ tenant: 'acme', subscriptionId: parseSubscriptionId(ill) }, contact)
  })

  test('are grouped by their cause', async () => {
    const { body } = await get('/parked')
    expect(body.items).toMatchObject([
      {
        subscriptionId: ill,
        url: expect.any(String),
        parkedReason: 'exhausted',
        outcome: 'answered',
        status: 503,
        count: 2,
      },
      { subscriptionId: gone, parkedReason: 'rejected', outcome: 'answered', status: 410, count: 1 },
    ])
  })

  test('are summed up for each subscription, in pages', async () => {
    const first = await get('/summary?limit=2')
    const second = await get(`/summary?limit=2&cursor=${first.body.nextCursor}`)
    expect([...first.body.items, ...second.body.items]).toMatchObject([
      {
        subscriptionId: ill,
        url: 'https://ill.example/',
        enabled: true,
        pending: 0,
        waiting: 1,
        looked: 4,
        held: 1,
        oldestHeldAt: expect.any(String),
        parked: 2,
        oldestParkedAt: expect.any(String),
        health: { state: 'closed', lastFailureStatus: 503 },
      },
      { subscriptionId: gone, parked: 1 },
      { url: 'https://well.example/', waiting: 0, held: 0, oldestHeldAt: null, parked: 0, oldestParkedAt: null },
    ])
    expect(second.body.nextCursor).toBeNull()
    expect((await get('/summary', 'globex')).body.items).toMatchObject([{ url: 'https://foreign.example/', parked: 1 }])
  })

  const idsOf = async (query: string, tenant: 'acme' | 'globex' = 'acme'): Promise<unknown[]> => {
    const { status, body } = await get(`/deliveries${query}`, tenant)
    expect([status, body.nextCursor]).toEqual([200, null])
    return body.items.map(({ deliveryId }) => deliveryId)
  }

  test.each<[string, number[]]>([
    ['', [2, 1, 0]],
    ['?parkedReason=rejected', [1]],
    ['?status=503&outcome=answered', [2, 0]],
    ['?outcome=timeout', []],
    ['?callId=b', [1]],
    [`?agentUri=${encodeURIComponent(ALICE)}&eventType=call.status`, [2, 1, 0]],
    ['?eventType=agent.status', []],
    ['?to=2026-01-01T00:00:00Z', []],
    ['?state=any&status=410', [1]],
    ['?state=any&callId=a', [2, 0]],
    ['?state=acknowledged', []],
  ])('are found by "%s"', async (query, wanted) => {
    expect(await idsOf(query)).toEqual(wanted.map((at) => parked[at]))
  })

  test('and other deliveries are found by their subscription', async () => {
    expect(await idsOf(`?subscriptionId=${gone}`)).toEqual([parked[1]])
    expect(await idsOf(`?subscriptionId=${gone}&state=any`)).toEqual([parked[1]])
    expect(await idsOf(`?subscriptionId=${gone}&state=any&callId=b`)).toEqual([parked[1]])
    expect(await idsOf(`?subscriptionId=${ill}&state=waiting`)).toHaveLength(1)
    expect(await idsOf('?state=waiting')).toEqual(await idsOf(`?subscriptionId=${ill}&state=waiting`))
  })

  test('of one tenant are never shown to another', async () => {
    const [theirs] = await idsOf('', 'globex')
    expect(parked).not.toContain(theirs)
    for (const state of ['parked', 'any']) {
      expect(await idsOf(`?subscriptionId=${ill}&state=${state}`, 'globex')).toEqual([])
      expect(await idsOf(`?subscriptionId=${ill}&state=${state}&callId=a`, 'globex')).toEqual([])
    }
    const { body } = await get('/parked', 'globex')
    expect(body.items.map(({ count }) => count)).toEqual([1])
  })

  test('stay listed after their subscription is deleted', async () => {
    expect(
      (await api.call('DELETE', `${WEBHOOKS}/subscriptions/${gone}`, { headers: around.bearer('acme') })).status,
    ).toBe(204)
    expect(await idsOf(`?subscriptionId=${gone}`)).toEqual([parked[1]])
    expect((await get('/parked')).body.items).toHaveLength(2)
  })

  test.each([
    ['/deliveries?state=lost', '/state'],
    ['/deliveries?status=1000', '/status'],
    ['/deliveries?subscriptionId=x', '/subscriptionId'],
    ['/deliveries?cursor=x', '/cursor'],
    ['/deliveries?cursor=x&state=any', '/cursor'],
    ['/deliveries?limit=101', '/limit'],
    ['/summary?cursor=x', '/cursor'],
    ['/statistics?step=1d', '/step'],
    ['/statistics?from=2126-01-01T00:00:00Z', '/from'],
    ['/statistics?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/to'],
  ])('%s is rejected', async (path, pointer) => {
    expect(await get(path)).toMatchObject({ status: 400, body: { code: 'invalid-request', errors: [{ pointer }] } })
  })
})

describe('statistics', () => {
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  const counts = new Map([
    ['.a', 3],
    ['.J', 1],
    ['f', 4],
    ['C', 1],
    ['!', 1],
  ])

  test('are shown by minute and by hour, of a subscription and of the tenant', async () => {
    await around.redis.flush()
    const subscription = await subscribe('https://client.example/')
    const subscriptionId = parseSubscriptionId(subscription)
    const additions = [subscriptionId, null].map((id) => ({ subscriptionId: id, atMs: minute, counts }))
    await createStatisticsStore(redis, { subscriptions: 1 }).add('acme', additions, Date.now())
    const point = {
      at: new Date(minute).toISOString(),
      attempts: 4,
      acknowledged: 3,
      byOutcome: { delivered: 3, '503': 1 },
      parked: 1,
      expired: 0,
      answerMs: { p50: 8.5, p95: 9.9, p99: 10 },
      delayMs: { p50: 2.5, p95: 3, p99: 3 },
    }
    expect((await get('/statistics')).body).toEqual({ step: '1m', isCounted: true, points: [point], coolDowns: [] })
    const byHour = (await get(`/statistics?step=1h&subscriptionId=${subscription}`)).body
    expect(byHour).toMatchObject({ step: '1h', isCounted: true, points: [{ attempts: 4, parked: 1 }] })
    const before = `/statistics?from=2026-01-01T00:00:00Z&to=${new Date(minute - 60_000).toISOString()}`
    expect((await get(before)).body['points']).toEqual([])
    expect((await get('/statistics', 'globex')).body['points']).toEqual([])
    expect((await get(`/statistics?subscriptionId=${subscription}`, 'globex')).body['points']).toEqual([])
    const other = await subscribe('https://other.example/')
    expect((await get(`/statistics?subscriptionId=${other}`)).body).toMatchObject({ isCounted: false, points: [] })
  })

  test('have the cool-downs of a subscription', async () => {
    const subscription = await subscribe('https://ill.example/')
    const breaker = createBreakerStore(redis, { failures: 1, cooldownMs: 30_000 })
    await breaker.recordFailure({ tenant: 'acme', subscriptionId: parseSubscriptionId(subscription) }, undefined)
    const path = `/statistics?subscriptionId=${subscription}`
    // A cool-down that began in the millisecond of the request is not in its window yet.
    await eventually(async () => {
      const { coolDowns } = (await get(path)).body as unknown as { coolDowns: { from: string; until: string }[] }
      expect(coolDowns.map(({ from, until }) => Date.parse(until) - Date.parse(from))).toEqual([30_000])
    })
    expect((await get(`${path}&to=2026-01-01T00:00:00Z`)).body).toMatchObject({ coolDowns: [] })
    expect((await get(path, 'globex')).body).toMatchObject({ coolDowns: [] })
  })
})

test('the policy is what the workers reported', async () => {
  await around.redis.flush()
  expect(await get('/policy')).toMatchObject({ status: 503, body: { detail: expect.stringContaining('worker') } })
  await createDeliveryPolicyStore(redis).report({
    deliveryTimeoutMs: 10_000,
    retryWaitsMs: [10_000, 60_000],
    breaker: { failures: 5, cooldownMs: 30_000 },
    retention: { deliveryMs: HOUR_MS, parkedMs: 30 * 24 * HOUR_MS },
    limits: {
      parkedPerSubscription: 1,
      parkedPerTenant: 2,
      settledPerTenant: 3,
      waitingPerTenant: 4,
      attemptsAtOnce: 10,
      quickAttemptsAtOnce: 80,
    },
  })
  expect((await get('/policy')).body).toMatchObject({
    deliveryTimeoutMs: 10_000,
    retryWaitsMs: [10_000, 60_000],
    retention: { journalMs: 86_400_000 },
    limits: { settledPerTenant: 3, waitingPerTenant: 4, recoveryPerSecond: 50, subscriptionsPerTenant: 100_000 },
    egressAddresses: ['203.0.113.0/28'],
  })
})
