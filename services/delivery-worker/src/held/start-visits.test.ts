import { startVisits } from './start-visits.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('an outage of Redis is logged once, and the visits go on', async () => {
  let asked = 0
  const away = (): never => {
    asked += 1
    throw new Error('Redis cannot be reached')
  }
  const warned: string[] = []
  const visits = startVisits({
    redis: new Proxy({}, { get: () => away }),
    broker: {},
    redisNow: Date.now,
    log: { warn: (message: string) => void warned.push(message) },
  } as unknown as Parameters<typeof startVisits>[0])
  await jest.advanceTimersByTimeAsync(3_500)
  expect([asked, warned]).toEqual([3, ['due visits to held deliveries cannot be read; retrying']])
  await visits.stop()
})
