import { answerWithin } from '@switchhook/runtime'
import { eventually, silentLog, startTcpProxy, type TcpProxy, type TestRedis, testRedis } from '@switchhook/testkit'
import { requestsKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createRequestLimiter } from './request-limiter.ts'

const RATE = { requests: 3, windowMs: 60_000 }

let server: TestRedis
let wire: TcpProxy
let redis: Redis
let other: Redis
let limiter: ReturnType<typeof createRequestLimiter>
/** The same limiter in another process. */
let elsewhere: ReturnType<typeof createRequestLimiter>

beforeAll(async () => {
  server = await testRedis()
  wire = await startTcpProxy(server.redisUrl)
  redis = await openRedis({ url: wire.url, log: silentLog, name: 'test' })
  other = await openRedis({ url: server.redisUrl, log: silentLog, name: 'test-other' })
})
afterAll(async () => {
  await Promise.all([redis.close(), other.close()])
  await Promise.all([server.close(), wire.close()])
})
beforeEach(async () => {
  await server.flush()
  limiter = createRequestLimiter(redis, RATE)
  elsewhere = createRequestLimiter(other, RATE)
})

const countAll = async (
  of: ReturnType<typeof createRequestLimiter>,
  times: number,
  client = 'a',
): Promise<boolean[]> => {
  const over: boolean[] = []
  for (let n = 0; n < times; n++) over.push((await of.count(client)).isOver)
  return over
}

/** The number of commands that Redis has executed for this test's connections, including this one. */
const commandsOf = async (): Promise<number> => {
  const stats = await other[execute]((commands) => commands.info('commandstats'))
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

test('the first request beyond the limit is rejected, whichever process counts it', async () => {
  expect(await limiter.count('a')).toEqual({ isOver: false, remaining: 2, resetMs: expect.any(Number) })
  expect(await elsewhere.count('a')).toMatchObject({ isOver: false, remaining: 1 })
  expect(await limiter.count('a')).toMatchObject({ isOver: false, remaining: 0 })
  expect(await elsewhere.count('a')).toMatchObject({ isOver: true, remaining: 0 })
  const { isOver, resetMs } = await limiter.count('a')
  expect(isOver).toBe(true)
  expect(resetMs).toBeGreaterThan(50_000)
  expect(resetMs).toBeLessThanOrEqual(60_000)
})

test('each client is counted separately, and its count expires with the window', async () => {
  expect(await countAll(limiter, 4, 'a')).toEqual([false, false, false, true])
  expect((await limiter.count('b')).isOver).toBe(false)
  const leftMs = await other[execute]((commands) => commands.pttl(requestsKey('a')))
  expect(leftMs).toBeGreaterThan(0)
  expect(leftMs).toBeLessThanOrEqual(60_000)
})

test('a new window starts from zero', async () => {
  const brief = createRequestLimiter(redis, { requests: 1, windowMs: 1_000 })
  const client = await eventually(async () => {
    const name = crypto.randomUUID()
    expect(await countAll(brief, 2, name)).toEqual([false, true])
    return name
  })
  await eventually(async () => expect(await brief.count(client)).toMatchObject({ isOver: false }), { timeoutMs: 5_000 })
})

test('a client over its limit costs no further Redis command', async () => {
  const before = await commandsOf()
  await countAll(limiter, 3)
  expect(await commandsOf()).toBe(before + 3)
  expect(await countAll(limiter, 50)).toEqual(Array(50).fill(true))
  expect(await commandsOf()).toBe(before + 3)
})

test('one command takes a hundredth of a large window', async () => {
  const busy = createRequestLimiter(redis, { requests: 1_000, windowMs: 60_000 })
  const before = await commandsOf()
  const quotas = await Promise.all(Array.from({ length: 95 }, () => busy.count('a')))
  expect(quotas.every(({ isOver }) => !isOver)).toBe(true)
  expect(Math.min(...quotas.map(({ remaining }) => remaining))).toBe(1_000 - 95)
  expect(await commandsOf()).toBe(before + 10)
})

test('several processes together admit no more than the limit, and hardly fewer', async () => {
  const rate = { requests: 250, windowMs: 60_000 }
  const [here, there] = [createRequestLimiter(redis, rate), createRequestLimiter(other, rate)]
  const over = (await Promise.all([countAll(here, 60), countAll(there, 300)])).flat()
  const passed = over.filter((isOver) => !isOver).length
  expect(passed).toBeLessThanOrEqual(250)
  expect(passed).toBeGreaterThanOrEqual(248)
})

test('without Redis, each process counts alone', async () => {
  wire.refuse()
  await eventually(() => expect(redis.isReady()).toBe(false))
  expect(await countAll(limiter, 4)).toEqual([false, false, false, true])
  wire.accept()
  await eventually(() => expect(redis.isReady()).toBe(true), { timeoutMs: 10_000 })
  expect((await limiter.count('a')).isOver).toBe(false)
})

test('a request does not wait for a Redis that does not answer', async () => {
  wire.freeze()
  expect((await answerWithin(2_000, limiter.count('a'), 'late')).isOver).toBe(false)
  wire.thaw()
  await eventually(async () => expect(await redis[execute]((commands) => commands.ping())).toBe('PONG'), {
    timeoutMs: 10_000,
  })
})
