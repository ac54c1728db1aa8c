import { beginPause } from './pause.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('only the first call of end counts', async () => {
  const pause = beginPause(Promise.resolve(), 1_000)
  pause.end('retry')
  pause.end('return')
  await expect(pause.ended).resolves.toBe('retry')
})

test('a pause that is not ended returns the messages after the hold; one that is leaves no timer behind', async () => {
  const undecided = beginPause(Promise.resolve(), 1_000)
  beginPause(Promise.resolve(), 1_000).end('retry')
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(1_000)
  await expect(undecided.ended).resolves.toBe('return')
})
