import { Unavailable } from '@switchhook/contracts'
import { createDependencyGate } from './dependency-gate.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

test('a pause that has ended leaves no timer behind', async () => {
  const [set, cleared] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')]
  const back = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  const gate = createDependencyGate({
    queue: 'queue',
    concurrency: 1,
    recovered: () => back.promise,
    brokerReady: async () => {},
    timing: { firstPauseMs: 1, longestPauseMs: 1, retryForMs: 60_000, ackDelayMs: 0 },
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    draining: new AbortController().signal,
    unsubscribe: async () => {},
    subscribe: async () => resumed.resolve(),
  } as unknown as Parameters<typeof createDependencyGate>[0])
  await gate.failed(new Unavailable('redis', 'away'), 0)
  expect(gate.isOpen()).toBe(false)
  const own = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 60_000)]?.value
  expect(own).toBeDefined()
  back.resolve()
  await resumed.promise
  expect(gate.isOpen()).toBe(true)
  expect(cleared).toHaveBeenCalledWith(own)
})

test.each([1, 3])('of %i messages that fail together and wait alone, the first one logs', async (count) => {
  const lines: unknown[][] = []
  const draining = new AbortController()
  const gate = createDependencyGate({
    queue: 'queue',
    concurrency: 10,
    recovered: async () => {},
    brokerReady: async () => {},
    timing: { firstPauseMs: 1_000, longestPauseMs: 1_000, retryForMs: 60_000, ackDelayMs: 0 },
    log: { debug: () => {}, info: () => {}, warn: (...line: unknown[]) => void lines.push(line) },
    draining: draining.signal,
    unsubscribe: async () => {},
    subscribe: async () => {},
  } as unknown as Parameters<typeof createDependencyGate>[0])
  const error = new Unavailable('redis', 'slow')
  const failed = Array.from({ length: count }, () => gate.failed(error, 0))
  await jest.advanceTimersByTimeAsync(1)
  draining.abort()
  await Promise.all(failed)
  expect(lines).toEqual([['a message waits for a dependency; the others continue', { queue: 'queue', error }]])
})
