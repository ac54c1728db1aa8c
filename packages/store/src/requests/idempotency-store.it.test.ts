import { isGuid } from '@switchhook/contracts'
import { eventually, silentLog, startTcpProxy, type TcpProxy, type TestRedis, useRedis } from '@switchhook/testkit'
import { idempotentKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createIdempotencyStore, type IdempotencyClaim, type IdempotencyStore } from './idempotency-store.ts'

const LONG = { leaseMs: 30_000, retentionMs: 60_000 }

let server: TestRedis
let redis: Redis
let other: Redis
let store: IdempotencyStore
/** The same store in another process. */
let elsewhere: IdempotencyStore
/** A store whose claims can be taken over almost immediately. */
let hasty: IdempotencyStore

useRedis(openRedis, (opened) => {
  ;({ server, redis, other } = opened)
  store = createIdempotencyStore(redis, LONG)
  elsewhere = createIdempotencyStore(other, LONG)
  hasty = createIdempotencyStore(redis, { ...LONG, leaseMs: 20 })
})
beforeEach(() => server.flush())

async function claim(by: IdempotencyStore = store, scope = 'scope', fingerprint = 'body'): Promise<IdempotencyClaim> {
  const begun = await by.begin(scope, fingerprint)
  if (begun.kind !== 'new') throw new Error(`expected a claim, got ${begun.kind}`)
  return begun.claim
}

const expiryOf = (scope: string): Promise<number> => redis[execute]((commands) => commands.pttl(idempotentKey(scope)))

test('the first request gets the claim, a concurrent one is busy, later ones get the answer', async () => {
  const first = await claim()
  expect(first).toEqual({ scope: 'scope', token: expect.any(String), seed: expect.any(String), isRerun: false })
  expect(isGuid(first.seed)).toBe(true)
  expect(await elsewhere.begin('scope', 'body')).toEqual({ kind: 'busy' })
  expect(await store.finish(first, { status: 202 })).toBe(true)
  for (const each of [store, elsewhere]) {
    expect(await each.begin('scope', 'body')).toEqual({ kind: 'replay', answer: { status: 202 } })
  }
})

test.each<[string, unknown]>([
  [
    'nested members in their order',
    { status: 201, headers: { z: '1', a: '2' }, body: { z: [1, null, { b: 1, a: 2 }] } },
  ],
  ['any text', { body: 'naïve "quotes" \u2028 \ud83d\udcde \n' }],
  ['numbers that Lua would format differently', { body: [12345678901234, 0.1, -1e-7] }],
  ['an empty list and an empty object', [[], {}]],
])('an answer with %s is returned unchanged', async (_what, answer) => {
  await store.finish(await claim(), answer)
  const replay = await elsewhere.begin('scope', 'body')
  expect(replay).toEqual({ kind: 'replay', answer })
  expect(JSON.stringify('answer' in replay && replay.answer)).toBe(JSON.stringify(answer))
})

test('exactly one of many concurrent requests from two processes gets the claim', async () => {
  const begun = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (at % 2 ? store : elsewhere).begin('scope', 'body')),
  )
  expect(begun.map(({ kind }) => kind).toSorted()).toEqual([...Array.from({ length: 19 }, () => 'busy'), 'new'])
})

test('another body is a mismatch: during the first request, after its answer, and after its release', async () => {
  const first = await claim()
  expect(await elsewhere.begin('scope', 'other body')).toEqual({ kind: 'mismatch' })
  await store.release(first)
  expect(await elsewhere.begin('scope', 'other body')).toEqual({ kind: 'mismatch' })
  await store.finish(await claim(), 'answer')
  expect(await elsewhere.begin('scope', 'other body')).toEqual({ kind: 'mismatch' })
})

test('scopes are independent', async () => {
  const one = await claim(store, 'one')
  const two = await claim(store, 'two')
  expect(one.seed).not.toBe(two.seed)
  await store.finish(one, 1)
  expect(await store.begin('two', 'body')).toEqual({ kind: 'busy' })
})

test('a released request can be claimed immediately, with the same seed, as a rerun', async () => {
  const first = await claim()
  await store.release(first)
  const second = await claim(elsewhere)
  expect(second).toMatchObject({ seed: first.seed, isRerun: true })
  expect(second.token).not.toBe(first.token)
})

test('an abandoned request can be claimed after the lease, with the same seed, as a rerun', async () => {
  const dead = await claim(hasty)
  const next = await eventually(() => claim(elsewhere))
  expect(next).toMatchObject({ seed: dead.seed, isRerun: true })
})

test('a claim that was taken over can neither finish nor release the request, nor overwrite the answer', async () => {
  const slow = await claim(hasty)
  const next = await eventually(() => claim(elsewhere))
  expect(await hasty.finish(slow, 'too late')).toBe(false)
  await hasty.release(slow)
  expect(await store.begin('scope', 'body')).toEqual({ kind: 'busy' })
  expect(await elsewhere.finish(next, 'answer')).toBe(true)
  expect(await hasty.finish(slow, 'too late')).toBe(false)
  await hasty.release(slow)
  expect(await store.begin('scope', 'body')).toEqual({ kind: 'replay', answer: 'answer' })
})

test('a request is kept for the retention after its claim, and again after its answer', async () => {
  const first = await claim()
  expect(await expiryOf('scope')).toBeGreaterThan(LONG.retentionMs - 5_000)
  await redis[execute]((commands) => commands.pexpire(idempotentKey('scope'), 10_000))
  await store.finish(first, 'answer')
  expect(await expiryOf('scope')).toBeGreaterThan(LONG.retentionMs - 5_000)

  const brief = createIdempotencyStore(redis, { leaseMs: 20, retentionMs: 30 })
  const before = await claim(brief, 'brief')
  await brief.finish(before, 'answer')
  const after = await eventually(() => claim(brief, 'brief', 'another body'))
  expect(after.seed).not.toBe(before.seed)
})

test('an answer that arrives after the request was forgotten is not stored', async () => {
  const first = await claim()
  await server.flush()
  expect(await store.finish(first, 'answer')).toBe(false)
  await store.release(first)
  expect((await store.begin('scope', 'another body')).kind).toBe('new')
})

describe('a limit per client', () => {
  const REQUESTS = 200
  let forgotten: number
  const limited = (leaseMs = 30_000) =>
    createIdempotencyStore(
      redis,
      { leaseMs, retentionMs: 60_000 },
      { requestsPerClient: REQUESTS, forgotten: (count) => (forgotten += count) },
    )
  const carryOut = async (scope: string, client: string): Promise<void> => {
    const begun = await limited().begin(scope, 'body', client)
    if (begun.kind === 'new') await limited().finish(begun.claim, { status: 202 })
  }
  const many = async (count: number, client: string): Promise<void> => {
    for (let i = 0; i < count; i++) await carryOut(`${client}-${i}`, client)
  }

  beforeEach(() => {
    forgotten = 0
  })

  test('invented clients of a tenant have one limit together; another tenant keeps its requests', async () => {
    const shared = createIdempotencyStore(
      redis,
      { leaseMs: 30_000, retentionMs: 60_000 },
      { requestsPerClient: REQUESTS, requestsPerTenant: REQUESTS, forgotten: (count) => (forgotten += count) },
    )
    const carryOutOf = async (tenant: string, at: number): Promise<void> => {
      const begun = await shared.begin(`${tenant}-${at}`, 'body', `${tenant}-client-${at}`, tenant)
      if (begun.kind === 'new') await shared.finish(begun.claim, {})
    }
    await carryOutOf('globex', 0)
    for (let at = 0; at < REQUESTS + 50; at++) await carryOutOf('acme', at)
    expect(forgotten).toBeGreaterThanOrEqual(48)
    expect((await shared.begin('acme-0', 'body', 'acme-client-0', 'acme')).kind).toBe('new')
    expect((await shared.begin('globex-0', 'body', 'globex-client-0', 'globex')).kind).toBe('replay')
  })

  test('the oldest requests are forgotten first, and the others are replayed', async () => {
    await many(REQUESTS + 50, 'one')
    expect(forgotten).toBeGreaterThanOrEqual(48)
    expect(forgotten).toBeLessThanOrEqual(50)
    expect(await limited().begin(`one-${REQUESTS + 49}`, 'body', 'one')).toMatchObject({ kind: 'replay' })
    expect(await limited().begin('one-60', 'body', 'one')).toMatchObject({ kind: 'replay' })
    expect(await limited().begin('one-0', 'body', 'one')).toMatchObject({ kind: 'new' })
  })

  test('clients do not displace each other, and a repeated request counts once', async () => {
    await carryOut('two-first', 'two')
    await many(REQUESTS + 50, 'one')
    expect(await limited().begin('two-first', 'body', 'two')).toMatchObject({ kind: 'replay' })
    forgotten = 0
    for (let i = 0; i < REQUESTS * 2; i++) await carryOut('two-first', 'two')
    expect(forgotten).toBe(0)
  })

  test('a request that is being executed is not forgotten', async () => {
    const begun = await limited().begin('one-first', 'body', 'one')
    await many(REQUESTS + 50, 'one')
    expect(await limited().begin('one-first', 'body', 'one')).toEqual({ kind: 'busy' })
    if (begun.kind === 'new') expect(await limited().finish(begun.claim, {})).toBe(true)
  })
})

describe('an outage of Redis', () => {
  let toRedis: TcpProxy
  let cut: Redis
  let cutStore: IdempotencyStore
  beforeEach(async () => {
    toRedis = await startTcpProxy(server.redisUrl)
    cut = await openRedis({ url: toRedis.url, log: silentLog, name: 'test-cut' })
    // Longer than the test waits, so that only the release frees the claim.
    cutStore = createIdempotencyStore(cut, { leaseMs: 600_000, retentionMs: 600_000 })
  })
  afterEach(async () => {
    await cut.close()
    await toRedis.close()
  })

  test('a claim that is released meanwhile is free as soon as Redis answers, long before its lease ends', async () => {
    const held = await claim(cutStore)
    toRedis.refuse()
    await cutStore.release(held)
    expect(await elsewhere.begin('scope', 'body')).toEqual({ kind: 'busy' })
    toRedis.accept()
    const again = await eventually(() => claim(elsewhere))
    expect(again).toMatchObject({ seed: held.seed, isRerun: true })
  })
})
