import { newSubscriptionId } from '@switchhook/contracts'
import { aSubscription, eventually, unverified, useRedis } from '@switchhook/testkit'
import { breakerKey, type Endpoint } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createSubscriptionStore } from '../subscriptions/subscription-store.ts'
import { type BreakerStore, createBreakerReader, createBreakerStore, KEPT_PERIODS } from './breaker-store.ts'
import { createCoolDownHistory } from './cool-down-history.ts'
import { createOutageStore } from './outage-store.ts'

const COOLDOWN_MS = 300
const LEASE_MS = 400

let redis: readonly [Redis, Redis]
let workers: readonly [BreakerStore, BreakerStore]
let endpoint: Endpoint

useRedis(openRedis, ({ redis: one, other }) => {
  redis = [one, other]
})

beforeEach(() => {
  workers = coolingDownFor(COOLDOWN_MS)
  endpoint = anEndpoint()
})

function coolingDownFor(cooldownMs: number): readonly [BreakerStore, BreakerStore] {
  const options = { failures: 3, cooldownMs }
  return [createBreakerStore(redis[0], options), createBreakerStore(redis[1], options)]
}

const anEndpoint = (): Endpoint => ({ tenant: 'acme', subscriptionId: newSubscriptionId() })

const stateOf = async (worker: 0 | 1 = 0): Promise<string> => (await workers[worker].health(endpoint)).state

async function open(): Promise<void> {
  for (let failure = 0; failure < 3; failure++)
    await workers[failure % 2 === 0 ? 0 : 1].recordFailure(endpoint, undefined)
}

const cooledDown = (): Promise<void> => eventually(async () => expect(await stateOf()).toBe('probing'))

test('an endpoint without failures is closed', async () => {
  expect(await workers[0].health(endpoint)).toEqual({
    state: 'closed',
    consecutiveFailures: 0,
    openUntilMs: null,
    recentHangs: 0,
  })
})

test('endpoints that are read in one tick get their own states', async () => {
  workers = coolingDownFor(60_000)
  await open()
  const [failing, working] = await Promise.all([workers[0].health(endpoint), workers[0].health(anEndpoint())])
  expect([failing.state, working.state]).toEqual(['open', 'closed'])
})

test('a key that holds something else fails its own endpoint only', async () => {
  const { tenant, subscriptionId } = endpoint
  await redis[0][execute]((commands) => commands.set(breakerKey({ tenant, subscriptionId }), 'no hash'))
  const read = await Promise.allSettled([workers[0].health(endpoint), workers[0].health(anEndpoint())])
  expect(read.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('the breaker opens at the Nth failure over all workers, not sooner', async () => {
  workers = coolingDownFor(60_000)
  expect(await workers[0].recordFailure(endpoint, undefined)).toBe(false)
  expect(await workers[1].recordFailure(endpoint, undefined)).toBe(false)
  expect(await workers[1].health(endpoint)).toMatchObject({ state: 'closed', consecutiveFailures: 2 })
  expect(await workers[0].recordFailure(endpoint, undefined)).toBe(true)
  const health = await createBreakerReader(redis[1]).health(endpoint)
  expect(health).toMatchObject({ state: 'open', consecutiveFailures: 3 })
  expect(health.openUntilMs).toBeGreaterThan(Date.now())
})

test('an answer resets the count: failures must be in a row', async () => {
  await workers[0].recordFailure(endpoint, undefined)
  await workers[0].recordFailure(endpoint, undefined)
  await workers[1].recordAnswer(endpoint)
  expect(await workers[0].recordFailure(endpoint, undefined)).toBe(false)
  expect(await stateOf()).toBe('closed')
})

test('failures of attempts that began before the breaker opened do not extend the cool-down', async () => {
  await open()
  const { openUntilMs } = await workers[0].health(endpoint)
  expect(await workers[1].recordFailure(endpoint, undefined)).toBe(false)
  expect((await workers[0].health(endpoint)).openUntilMs).toBe(openUntilMs)
})

test('after the cool-down exactly one worker gets the probe', async () => {
  await open()
  expect(await workers[0].claimProbe(endpoint, LEASE_MS)).toBeUndefined()
  await cooledDown()
  const claims = await Promise.all(
    Array.from({ length: 10 }, (_, n) => workers[n % 2 === 0 ? 0 : 1].claimProbe(endpoint, LEASE_MS)),
  )
  expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1)
})

test('a failed probe starts a new cool-down, a successful one closes the breaker', async () => {
  await open()
  await cooledDown()
  const first = await workers[0].claimProbe(endpoint, LEASE_MS)
  expect(await workers[0].recordFailure(endpoint, first)).toBe(true)
  expect(await workers[1].health(endpoint)).toMatchObject({ state: 'open', consecutiveFailures: 4 })
  await cooledDown()
  expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeDefined()
  await workers[1].recordAnswer(endpoint)
  expect(await stateOf()).toBe('closed')
})

describe('an endpoint with a Retry-After', () => {
  const busy = (retryAfterMs: number) => ({ outcome: 'answered', status: 429, retryAfterMs }) as const
  const coolDownMs = async (): Promise<number> => {
    const [opened, until] = await redis[0][execute]((commands) =>
      commands.hmget(breakerKey(endpoint), 'openedAt', 'openUntil'),
    )
    return Number(until) - Number(opened)
  }

  test('is not contacted for that long after a single failure, and then probed', async () => {
    expect(await workers[0].recordFailure(endpoint, undefined, busy(50))).toBe(true)
    expect(await coolDownMs()).toBe(50)
    await cooledDown()
    expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeDefined()
    await workers[1].recordAnswer(endpoint)
    expect(await workers[0].health(endpoint)).toMatchObject({ state: 'closed', consecutiveFailures: 0 })
  })

  test('is in no outage until it fails often enough, and then for the longer of Retry-After and cool-down', async () => {
    const outages = createOutageStore(redis[0])
    await workers[0].recordFailure(endpoint, undefined, busy(1))
    expect(await outages.unreported(endpoint)).toBeUndefined()
    for (const retryAfterMs of [1, 1]) {
      await cooledDown()
      await workers[0].recordFailure(endpoint, await workers[0].claimProbe(endpoint, LEASE_MS), busy(retryAfterMs))
    }
    expect(await coolDownMs()).toBe(COOLDOWN_MS)
    expect(await outages.unreported(endpoint)).toMatchObject({ failures: 3 })
    await cooledDown()
    await workers[0].recordFailure(endpoint, await workers[0].claimProbe(endpoint, LEASE_MS), busy(2 * COOLDOWN_MS))
    expect(await coolDownMs()).toBe(2 * COOLDOWN_MS)
  })

  test('keeps its cool-down although POSTs from before are answered, and their answers end the row of failures', async () => {
    await workers[0].recordFailure(endpoint, undefined)
    await workers[0].recordFailure(endpoint, undefined, busy(60_000))
    await workers[1].recordAnswer(endpoint)
    expect(await workers[0].health(endpoint)).toMatchObject({ state: 'open', consecutiveFailures: 1 })
  })

  test('begins a cool-down when its probe fails without a Retry-After', async () => {
    await workers[0].recordFailure(endpoint, undefined, busy(1))
    await cooledDown()
    await workers[0].recordFailure(endpoint, await workers[0].claimProbe(endpoint, LEASE_MS))
    expect(await coolDownMs()).toBe(COOLDOWN_MS)
    await workers[1].recordAnswer(endpoint)
    expect(await stateOf()).toBe('closed')
  })
})

describe('the history of cool-downs', () => {
  beforeEach(async () => {
    await createSubscriptionStore(redis[0], unverified, {}).create(aSubscription({ id: endpoint.subscriptionId }))
  })

  const history = (of: Endpoint = endpoint, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER) =>
    createCoolDownHistory(redis[1]).between(of, { fromMs, toMs })

  test('has one period per outage, to the end of its last cool-down', async () => {
    await open()
    const [period] = await history()
    const { openUntilMs } = await workers[0].health(endpoint)
    expect(await history()).toEqual([{ fromMs: (openUntilMs ?? 0) - COOLDOWN_MS, untilMs: openUntilMs }])
    await cooledDown()
    await workers[0].recordFailure(endpoint, await workers[0].claimProbe(endpoint, LEASE_MS))
    const extended = { fromMs: period?.fromMs, untilMs: (await workers[0].health(endpoint)).openUntilMs }
    expect(await history()).toEqual([extended])

    await workers[0].recordAnswer(endpoint)
    await open()
    expect(await history()).toEqual([extended, expect.anything()])
    expect(await history(endpoint, extended.untilMs ?? 0)).toHaveLength(1)
    expect(await history(endpoint, 0, period?.fromMs)).toEqual([])
    expect(await history({ ...endpoint, tenant: 'globex' })).toEqual([])
    expect(await history(anEndpoint())).toEqual([])
  })

  test('of a deleted subscription stays, and has none of its retries', async () => {
    await open()
    const before = await history()
    expect(before).toHaveLength(1)
    await createSubscriptionStore(redis[0], unverified, {}).remove(endpoint.tenant, endpoint.subscriptionId)
    await workers[0].recordAnswer(endpoint)
    await open()
    expect(await history()).toEqual(before)
  })

  test('keeps a limited number of periods, the latest', async () => {
    const flapping = createBreakerStore(redis[0], { failures: 1, cooldownMs: 1 })
    for (let outage = 0; outage < KEPT_PERIODS + 20; outage++) {
      // Each outage begins in a millisecond of its own.
      await eventually(async () => {
        await flapping.recordAnswer(endpoint)
        const before = (await history()).at(-1)?.fromMs ?? 0
        await flapping.recordFailure(endpoint, undefined)
        expect((await history()).at(-1)?.fromMs).toBeGreaterThan(before)
      })
    }
    const periods = await history()
    expect(periods).toHaveLength(KEPT_PERIODS)
    expect(periods.map(({ fromMs }) => fromMs)).toEqual(periods.map(({ fromMs }) => fromMs).toSorted((a, b) => a - b))
  })
})

test('while a probe is in flight, other failures change nothing', async () => {
  await open()
  await cooledDown()
  const probe = await workers[0].claimProbe(endpoint, LEASE_MS)
  expect(await workers[1].recordFailure(endpoint, undefined)).toBe(false)
  expect(await workers[1].recordFailure(endpoint, 'another claim')).toBe(false)
  expect(await workers[0].recordFailure(endpoint, probe)).toBe(true)
})

test('the probe of a dead worker lapses, and another worker gets it', async () => {
  await open()
  await cooledDown()
  await workers[0].claimProbe(endpoint, LEASE_MS)
  expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeUndefined()
  await eventually(async () => expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeDefined())
})

test('a probe that is given back is granted to the next worker immediately, and only its holder can give it back', async () => {
  await open()
  await cooledDown()
  const probe = (await workers[0].claimProbe(endpoint, LEASE_MS)) ?? ''
  await workers[1].giveUpProbe(endpoint, 'another claim')
  expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeUndefined()
  await workers[0].giveUpProbe(endpoint, probe)
  expect(await workers[1].health(endpoint)).toMatchObject({ state: 'probing', consecutiveFailures: 3 })
  expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeDefined()
})

test('a probe is granted if the breaker has closed meanwhile', async () => {
  await open()
  await cooledDown()
  await workers[1].recordAnswer(endpoint)
  expect(await workers[0].claimProbe(endpoint, LEASE_MS)).toBeDefined()
})

test('a worker whose clock is wrong by a day sees the same cool-down', async () => {
  workers = coolingDownFor(60_000)
  const realNow = Date.now
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => realNow() - 86_400_000)
  try {
    await open()
    clock.mockRestore()
    expect(await workers[1].health(endpoint)).toMatchObject({ state: 'open' })
    expect((await workers[1].health(endpoint)).openUntilMs).toBeGreaterThan(Date.now())
    jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 86_400_000)
    expect(await stateOf()).toBe('open')
    expect(await workers[0].claimProbe(endpoint, LEASE_MS)).toBeUndefined()
  } finally {
    jest.restoreAllMocks()
  }
})

describe('after a failover to a Redis whose clock is an hour behind', () => {
  /** Moves the stored times forward, which is the same for the scripts as a clock that is behind. */
  async function failOver(): Promise<void> {
    const key = breakerKey(endpoint)
    await redis[0][execute](async (commands) => {
      const fields = Object.entries(await commands.hgetall(key))
      const times = fields.filter(([, value]) => /^\d{13}$/.test(value))
      expect(times.length).toBeGreaterThan(0)
      for (const [field, atMs] of times) await commands.hset(key, field, String(Number(atMs) + 3_600_000))
    })
  }

  test('a cool-down that would begin in the future is over', async () => {
    await open()
    await failOver()
    expect([await stateOf(), await stateOf(1)]).toEqual(['probing', 'probing'])
    const probe = await workers[1].claimProbe(endpoint, LEASE_MS)
    expect(await workers[1].recordFailure(endpoint, probe)).toBe(true)
    const { state, openUntilMs } = await workers[0].health(endpoint)
    expect(state).toBe('open')
    expect(openUntilMs).toBeLessThanOrEqual(Date.now() + COOLDOWN_MS)
  })

  test('a probe that would begin in the future has lapsed, and another worker gets one', async () => {
    await open()
    await cooledDown()
    await workers[0].claimProbe(endpoint, LEASE_MS)
    await failOver()
    expect(await workers[1].claimProbe(endpoint, LEASE_MS)).toBeDefined()
    expect(await workers[0].claimProbe(endpoint, LEASE_MS)).toBeUndefined()
  })
})

test('one subscription’s failures do not affect another', async () => {
  await open()
  expect(await workers[0].health(anEndpoint())).toMatchObject({ state: 'closed' })
})

test('a read returns the stored subscription with the breaker', async () => {
  const subscription = aSubscription({ id: endpoint.subscriptionId, tenant: endpoint.tenant })
  const subscriptions = createSubscriptionStore(redis[1], unverified, {})
  await subscriptions.create(subscription)
  await open()
  expect(await workers[0].readEndpoint(endpoint)).toMatchObject({ subscription, health: { state: 'open' } })
  expect(await workers[0].readEndpoint({ ...endpoint, tenant: 'globex' })).toMatchObject({
    subscription: undefined,
    health: { state: 'closed' },
  })
  await subscriptions.remove(endpoint.tenant, endpoint.subscriptionId)
  expect(await workers[0].readEndpoint(endpoint)).toMatchObject({ subscription: undefined })
})

describe('results that hung', () => {
  /** Of an endpoint with a limit of three: `h` hung, `f` failed quickly, `.` was answered. */
  async function record(results: string): Promise<boolean> {
    let opened = false
    for (const [at, result] of results.split('').entries()) {
      const worker = workers[at % 2 === 0 ? 0 : 1]
      if (result === '.') await worker.recordAnswer(endpoint)
      else
        opened = await worker.recordFailure(endpoint, undefined, {
          outcome: 'timeout',
          status: null,
          hung: result === 'h',
        })
    }
    return opened
  }

  test.each([
    ['hhh', true],
    ['h.h.h', true],
    ['h..h.h', true],
    ['h...h..h', false],
    ['h....h', false],
    ['f.f.f.f.f', false],
    ['hf.fh.h', false],
    ['h.hfh', true],
    ['ff.h.h', false],
  ])('of %s open the breaker: %s', async (results, expected) => {
    expect(await record(results)).toBe(expected)
    expect(await stateOf(1)).toBe(expected ? 'open' : 'closed')
  })

  test('are known until six results are newer; then nothing is kept', async () => {
    await record('h.....')
    expect(await workers[1].health(endpoint)).toMatchObject({ state: 'closed', consecutiveFailures: 0, recentHangs: 1 })
    await record('.')
    expect(await workers[1].health(endpoint)).toMatchObject({ recentHangs: 0 })
    expect(await redis[0][execute]((commands) => commands.exists(breakerKey(endpoint)))).toBe(0)
  })

  test('count anew after the cool-down, but one stays known; a probe that fails begins another', async () => {
    await record('h.h.h')
    await cooledDown()
    const probe = await workers[0].claimProbe(endpoint, LEASE_MS)
    expect(await workers[0].recordFailure(endpoint, probe, { outcome: 'timeout', status: null, hung: true })).toBe(true)
    await cooledDown()
    await workers[0].recordAnswer(endpoint)
    expect(await workers[1].health(endpoint)).toMatchObject({ state: 'closed', recentHangs: 1 })
    expect(await record('h.')).toBe(false)
    expect(await record('h')).toBe(true)
  })
})
