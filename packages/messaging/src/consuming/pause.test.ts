import { Pause } from './pause.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('only the first decision counts', async () => {
  const pause = new Pause(Promise.resolve(), 1_000)
  pause.decide('retry')
  pause.decide('return')
  await expect(pause.verdict).resolves.toBe('retry')
})

test('without a decision the messages are returned at the end of the hold, and a decision leaves no timer behind', async () => {
  const undecided = new Pause(Promise.resolve(), 1_000)
  new Pause(Promise.resolve(), 1_000).decide('retry')
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(1_000)
  await expect(undecided.verdict).resolves.toBe('return')
})
