import { Unavailable } from '@switchhook/contracts'
import { createDependencyGate } from './dependency-gate.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('a pause that has ended leaves no timer behind', async () => {
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
  expect([gate.isOpen(), jest.getTimerCount()]).toEqual([false, 1])
  back.resolve()
  await resumed.promise
  expect([gate.isOpen(), jest.getTimerCount()]).toEqual([true, 0])
})
