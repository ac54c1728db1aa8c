import { startNotingUptime } from './note-uptime.ts'

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] }))
afterEach(() => jest.useRealTimers())

test('uptime is noted from the start on, each second, and not while no request can be answered', async () => {
  let [notes, isAway, canServe] = [0, false, true]
  const note = async (): Promise<void> => {
    if (isAway) throw new Error('Redis is away')
    notes += 1
  }
  const noting = startNotingUptime({ note }, () => canServe)
  const settled = () => jest.advanceTimersByTimeAsync(0)
  const second = () => jest.advanceTimersByTimeAsync(1_000)
  await settled()
  expect(notes).toBe(1)
  await second()
  expect(notes).toBe(2)
  isAway = true
  for (let seconds = 0; seconds < 75; seconds++) await second()
  expect(notes).toBe(2)
  isAway = false
  await second()
  expect(notes).toBe(3)
  canServe = false
  for (let seconds = 0; seconds < 75; seconds++) await second()
  expect(notes).toBe(3)
  await noting.stop()
})
