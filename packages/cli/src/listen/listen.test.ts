import { createClient } from '@switchhook/client'
import { listen } from './listen.ts'

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

const MINUTE_MS = 60_000

test.each([
  ['longer than a lease', 45 * MINUTE_MS, [45 * MINUTE_MS]],
  ['shorter than a lease', 29_000, []],
])('a sleep of the machine that is %s', (_length, sleptMs, told) => {
  const slept: number[] = []
  const nothing = (): void => {}
  void listen({
    // The long poll does not end.
    client: createClient({ baseUrl: 'http://127.0.0.1', fetch: () => new Promise(nothing) }),
    subscriptionId: 's-1',
    handle: () => new Promise(nothing),
    untilReady: () => new Promise(nothing),
    on: {
      backlog: nothing,
      result: nothing,
      ready: nothing,
      connected: nothing,
      slept: (ms) => void slept.push(ms),
    },
  })
  jest.advanceTimersByTime(5_000)
  // Its clock goes on, and its timers do not.
  jest.setSystemTime(Date.now() + sleptMs)
  jest.advanceTimersByTime(5_000)
  expect(slept).toEqual(told)
})
