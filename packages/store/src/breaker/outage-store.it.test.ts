import { aSubscription, eventually, unverified, useRedis } from '@switchhook/testkit'
import { breakerKey, type Endpoint } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createSubscriptionStore } from '../subscriptions/subscription-store.ts'
import { type BreakerStore, createBreakerStore } from './breaker-store.ts'
import { createContactStore } from './contact-store.ts'
import { createOutageStore, type Outage, type OutageStore } from './outage-store.ts'
import { createRejectionStore } from './rejection-store.ts'

const COOLDOWN_MS = 200
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const answered503 = { outcome: 'answered', status: 503 } as const
const timeout = { outcome: 'timeout', status: null } as const

let redis: Redis
let breaker: BreakerStore
let outages: OutageStore
let endpoint: Endpoint

useRedis(openRedis, (opened) => {
  ;({ redis } = opened)
  breaker = createBreakerStore(redis, { failures: 2, cooldownMs: COOLDOWN_MS })
  outages = createOutageStore(redis)
})

beforeEach(async () => {
  endpoint = await anEndpoint()
})

const subscriptions = () => createSubscriptionStore(redis, unverified, {})

async function anEndpoint(): Promise<Endpoint> {
  const { tenant, id: subscriptionId } = await subscriptions().create(aSubscription())
  return { tenant, subscriptionId }
}

const deleted = ({ tenant, subscriptionId }: Endpoint) => subscriptions().remove(tenant, subscriptionId)

async function open(): Promise<void> {
  await breaker.recordFailure(endpoint, undefined, timeout)
  expect(await breaker.recordFailure(endpoint, undefined, answered503)).toBe(true)
}

test('an outage is remembered for 30 days, in which the workers or the traffic of the endpoint may pause', async () => {
  await breaker.recordFailure(endpoint, undefined, timeout)
  const keptMs = (): Promise<number> => redis[execute]((commands) => commands.pttl(breakerKey(endpoint)))
  expect(await keptMs()).toBeLessThanOrEqual(DAY_MS + COOLDOWN_MS)
  expect(await breaker.recordFailure(endpoint, undefined, answered503)).toBe(true)
  expect(await keptMs()).toBeGreaterThan(29 * DAY_MS)
})

test('the outage of a deleted subscription is remembered for an hour, also if a retry fails later', async () => {
  const other = endpoint
  await open()
  endpoint = await anEndpoint()
  await open()
  await deleted(endpoint)
  const keptMs = (of: Endpoint): Promise<number> => redis[execute]((commands) => commands.pttl(breakerKey(of)))
  expect(await keptMs(endpoint)).toBeLessThanOrEqual(HOUR_MS)
  expect(await keptMs(other)).toBeGreaterThan(29 * DAY_MS)
  expect(await breaker.recordFailure(endpoint, await probe(), timeout)).toBe(true)
  expect(await keptMs(endpoint)).toBeLessThanOrEqual(HOUR_MS + COOLDOWN_MS)
  for (const each of [endpoint, other]) {
    await breaker.recordAnswer(each)
    await breaker.recordFailure(each, undefined, { ...timeout, hung: true })
    await breaker.recordAnswer(each)
  }
  expect(await keptMs(endpoint)).toBeLessThanOrEqual(HOUR_MS + COOLDOWN_MS)
  expect(await keptMs(other)).toBeGreaterThan(23 * HOUR_MS)
})

async function probe(): Promise<string> {
  return eventually(async () => {
    const claim = await breaker.claimProbe(endpoint, 5_000)
    if (claim === undefined) throw new Error('not yet')
    return claim
  })
}

async function report(): Promise<Outage> {
  const outage = await outages.unreported(endpoint)
  if (outage === undefined) throw new Error('there is no outage to report')
  await outages.markReported(endpoint, outage)
  return outage
}

describe('an outage', () => {
  test('exists from the opening on, and stays the same after a failed probe', async () => {
    await breaker.recordFailure(endpoint, undefined, timeout)
    expect(await outages.unreported(endpoint)).toBeUndefined()
    // The script counts whole milliseconds.
    const beforeMs = Math.floor(await redis.nowMs())
    expect(await breaker.recordFailure(endpoint, undefined, answered503)).toBe(true)
    const afterMs = await redis.nowMs()
    const outage = await outages.unreported(endpoint)
    expect(outage).toMatchObject({ failures: 2, last: answered503 })
    expect(outage?.sinceMs).toBeGreaterThanOrEqual(beforeMs)
    expect(outage?.sinceMs).toBeLessThanOrEqual(afterMs)
    expect(outage?.untilMs).toBe((outage?.sinceMs ?? 0) + COOLDOWN_MS)

    expect(await breaker.recordFailure(endpoint, await probe(), timeout)).toBe(true)
    expect(await outages.unreported(endpoint)).toEqual(outage)
  })

  test('is reported once; its end only if its start was, by one worker, and a later repeat is identical', async () => {
    await open()
    expect(await outages.recordEnd(endpoint)).toBeUndefined()
    const outage = await report()
    expect(await outages.unreported(endpoint)).toBeUndefined()
    const recovery = await outages.recordEnd(endpoint)
    expect(recovery).toEqual({ ...outage, recoveredAtMs: expect.any(Number) })
    expect(await outages.recordEnd(endpoint)).toBeUndefined()
    const recoveredAtMs = (recovery?.recoveredAtMs ?? 0) - 10_000
    const key = breakerKey(endpoint)
    await redis[execute]((commands) => commands.hset(key, 'recoveredAt', String(recoveredAtMs)))
    expect(await outages.recordEnd(endpoint)).toEqual({ ...recovery, recoveredAtMs })
    await breaker.recordAnswer(endpoint)
    expect(await outages.recordEnd(endpoint)).toBeUndefined()
  })

  test('that follows another one is reported again, even if the first is marked too late', async () => {
    await open()
    const first = await report()
    await breaker.recordAnswer(endpoint)
    await outages.markReported(endpoint, first)
    expect((await breaker.health(endpoint)).state).toBe('closed')
    await eventually(() => expect(Date.now()).toBeGreaterThan(first.sinceMs + 5))
    await open()
    await outages.markReported(endpoint, first)
    expect(await outages.recordEnd(endpoint)).toBeUndefined()
    const second = await report()
    expect(second.sinceMs).toBeGreaterThan(first.sinceMs)
    await outages.markReported(endpoint, first)
    expect(await outages.recordEnd(endpoint)).toMatchObject(second)
  })

  test('whose start was not stored is reported when its next probe fails', async () => {
    const key = breakerKey(endpoint)
    await redis[execute]((commands) => commands.hset(key, 'failures', '5', 'openedAt', '1', 'openUntil', '2'))
    expect(await breaker.recordFailure(endpoint, await probe(), timeout)).toBe(true)
    expect(await outages.unreported(endpoint)).toMatchObject({ failures: 6 })
  })

  test('whose probe answered but then failed has not ended', async () => {
    await open()
    await report()
    const claim = await probe()
    const early = await outages.recordEnd(endpoint)
    await breaker.recordFailure(endpoint, claim, timeout)
    await eventually(() => expect(Date.now()).toBeGreaterThan((early?.recoveredAtMs ?? 0) + 5))
    expect((await outages.recordEnd(endpoint))?.recoveredAtMs).toBeGreaterThan(early?.recoveredAtMs ?? 0)
  })
})

test('rejections of a deleted subscription are gone, and none are recorded of its last deliveries', async () => {
  const rejections = createRejectionStore(redis)
  const both = [endpoint, await anEndpoint()]
  const recorded = async () => {
    for (const each of both) await rejections.record(each, 1_000)
    return (await Promise.all(both.map((each) => rejections.find(each)))).map((each) => each?.sinceMs)
  }
  expect(await recorded()).toEqual([1_000, 1_000])
  await deleted(endpoint)
  expect(await rejections.find(endpoint)).toBeUndefined()
  expect(await recorded()).toEqual([undefined, 1_000])
})

describe('the contact times of an endpoint', () => {
  const nothing = { successAtMs: null, failureAtMs: null, failure: null }

  test('are kept for success and failure separately, and never go back', async () => {
    const contacts = createContactStore(redis)
    const none = { ...nothing, failingSinceMs: null }
    expect(await contacts.find(endpoint)).toEqual(none)
    await contacts.record(endpoint, { ...nothing, successAtMs: 2_000 })
    await contacts.record(endpoint, { successAtMs: 1_000, failureAtMs: 3_000, failure: answered503 })
    await contacts.record(endpoint, { ...nothing, failureAtMs: 2_500, failure: timeout })
    expect(await contacts.find(endpoint)).toEqual({
      successAtMs: 2_000,
      failureAtMs: 3_000,
      failure: answered503,
      failingSinceMs: 3_000,
    })
    await contacts.record(endpoint, { ...nothing, failureAtMs: 4_000, failure: timeout })
    expect(await contacts.find(endpoint)).toMatchObject({ failureAtMs: 4_000, failure: timeout })
    expect(await contacts.find({ ...endpoint, tenant: null })).toEqual(none)
  })

  test('say since when it fails: since the first failure after its last success', async () => {
    const contacts = createContactStore(redis)
    const record = async (successAtMs: number | null, failureAtMs: number | null) => {
      await contacts.record(endpoint, { successAtMs, failureAtMs, failure: failureAtMs === null ? null : timeout })
      return (await contacts.find(endpoint)).failingSinceMs
    }
    expect(await record(null, 1_000)).toBe(1_000)
    expect(await record(null, 9_000)).toBe(1_000)
    expect(await record(10_000, null)).toBeNull()
    expect(await record(null, 9_500)).toBeNull()
    expect(await record(11_000, 12_000)).toBe(12_000)
    // Another worker's success is written late.
    expect(await record(12_500, 13_000)).toBe(13_000)
    expect(await record(null, 14_000)).toBe(13_000)
  })

  test('of a deleted subscription are gone, and its retries record none', async () => {
    const contacts = createContactStore(redis)
    const [removed, other] = [endpoint, await anEndpoint()]
    const recorded = async (atMs: number) => {
      for (const each of [removed, other])
        await contacts.record(each, { ...nothing, failureAtMs: atMs, failure: timeout })
      return Promise.all([removed, other].map(async (each) => (await contacts.find(each)).failureAtMs))
    }
    expect(await recorded(1_000)).toEqual([1_000, 1_000])
    await deleted(removed)
    expect((await contacts.find(removed)).failureAtMs).toBeNull()
    expect(await recorded(2_000)).toEqual([null, 2_000])
  })

  test('outlive the breaker', async () => {
    const contacts = createContactStore(redis)
    await contacts.record(endpoint, { ...nothing, failureAtMs: 1_000, failure: timeout })
    await open()
    await breaker.recordAnswer(endpoint)
    expect(await contacts.find(endpoint)).toMatchObject({ failureAtMs: 1_000 })
  })
})
