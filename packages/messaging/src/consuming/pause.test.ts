import { Pause } from './pause.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('the first decision stands', async () => {
  const pause = new Pause(Promise.resolve(), 1_000)
  pause.decide('again')
  pause.decide('give back')
  await expect(pause.verdict).resolves.toBe('again')
})

test('without a decision the messages are given back at the end of the hold, and no timer is left after one', async () => {
  const undecided = new Pause(Promise.resolve(), 1_000)
  new Pause(Promise.resolve(), 1_000).decide('again')
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(1_000)
  await expect(undecided.verdict).resolves.toBe('give back')
})
