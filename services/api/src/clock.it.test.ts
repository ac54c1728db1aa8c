import { type ClockWatch, createMetrics, startClockWatch } from '@switchhook/runtime'
import { openRedis, type Redis } from '@switchhook/store'
import { eventually, startTcpProxy, type TcpProxy, type TestRedis, testRedis } from '@switchhook/testkit'

let server: TestRedis
let proxy: TcpProxy
let redis: Redis
let watch: ClockWatch | undefined
let lines: string[]
/** How far the clock of this process is ahead, in ms. */
let aheadMs: number

const record = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
const log = { debug() {}, info: record('info'), warn: record('warn'), error: record('error') }

beforeAll(async () => {
  server = await testRedis()
  proxy = await startTcpProxy(server.redisUrl)
  redis = await openRedis({ url: proxy.url, log: { ...log, info() {}, warn() {} }, name: 'api' })
})

beforeEach(() => {
  lines = []
  aheadMs = 0
})

afterEach(() => watch?.stop())

afterAll(async () => {
  await redis.close()
  await proxy.close()
  await server.close()
})

/** The result reads the skew in seconds from the metric. */
async function start(): Promise<() => Promise<number | undefined>> {
  const metrics = createMetrics('api')
  watch = await startClockWatch({
    readServerMs: redis.nowMs,
    now: () => Date.now() + aheadMs,
    everyMs: 20,
    metrics,
    log,
  })
  return async () => {
    const line = (await metrics.text()).split('\n').find((one) => one.startsWith('switchhook_clock_skew_seconds{'))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }
}

test('a clock that agrees with Redis is fit, and nothing is logged', async () => {
  const skewSeconds = await start()
  expect(Math.abs((await skewSeconds()) ?? Number.NaN)).toBeLessThan(1)
  expect(watch?.isFit()).toBe(true)
  expect(lines).toEqual([])
})

test.each([-120_000, 120_000])('a clock that is %i ms off at the start is unfit from the start', async (offMs) => {
  aheadMs = offMs
  const skewSeconds = await start()
  expect(watch?.isFit()).toBe(false)
  expect(await skewSeconds()).toBeCloseTo(offMs / 1_000, 0)
  expect(lines).toEqual(["error this process's clock differs from Redis's by more than a minute"])
})

test('a drifting clock is logged, then unfit, then fit again once it is corrected; each change is logged once', async () => {
  await start()
  aheadMs = 5_000
  await eventually(() => expect(lines).toEqual(["warn this process's clock differs from Redis's"]))
  expect(watch?.isFit()).toBe(true)
  aheadMs = 90_000
  expect(watch?.isFit()).toBe(false)
  await eventually(() => expect(lines).toHaveLength(2))
  expect(watch?.isFit()).toBe(false)
  aheadMs = 0
  await eventually(() => expect(watch?.isFit()).toBe(true))
  expect(lines).toEqual([
    "warn this process's clock differs from Redis's",
    "error this process's clock differs from Redis's by more than a minute",
    "info this process's clock agrees with Redis's again",
  ])
})

test('while Redis is unavailable the skew is unknown, and the check keeps its result', async () => {
  aheadMs = 120_000
  const skewSeconds = await start()
  proxy.refuse()
  await eventually(async () => expect(await skewSeconds()).toBeUndefined())
  expect(watch?.isFit()).toBe(false)
  aheadMs = 0
  proxy.accept()
  await eventually(() => expect(watch?.isFit()).toBe(true), { timeoutMs: 10_000 })
  expect(Math.abs((await skewSeconds()) ?? Number.NaN)).toBeLessThan(1)
})
