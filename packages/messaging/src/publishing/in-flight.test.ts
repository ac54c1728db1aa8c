import { InFlight } from './in-flight.ts'

const publish = (name: string) => ({ name, sentAt: performance.now() })

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick'] })
})
afterEach(() => {
  jest.useRealTimers()
})

function start(limitMs: number) {
  const timedOut: string[] = []
  const inFlight = new InFlight<ReturnType<typeof publish>>(limitMs, ({ name }) => timedOut.push(name))
  return { inFlight, timedOut }
}

test('each publish times out at its own limit, by one timer', () => {
  const { inFlight, timedOut } = start(1_000)
  inFlight.add(publish('a'))
  jest.advanceTimersByTime(400)
  inFlight.add(publish('b'))
  expect(jest.getTimerCount()).toBe(1)
  jest.advanceTimersByTime(600)
  expect(timedOut).toEqual(['a'])
  jest.advanceTimersByTime(399)
  expect(timedOut).toEqual(['a'])
  jest.advanceTimersByTime(1)
  expect(timedOut).toEqual(['a', 'b'])
  expect([...inFlight]).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
})

test('a confirmed publish does not time out, and the timer ends with the last one', () => {
  const { inFlight, timedOut } = start(1_000)
  const confirmed = publish('a')
  inFlight.add(confirmed)
  expect(inFlight.delete(confirmed)).toBe(true)
  expect(inFlight.delete(confirmed)).toBe(false)
  jest.advanceTimersByTime(5_000)
  expect(timedOut).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
  inFlight.add(publish('b'))
  jest.advanceTimersByTime(1_000)
  expect(timedOut).toEqual(['b'])
})

test('a publish that is sent again from its time-out has the whole limit', () => {
  const names: string[] = []
  const inFlight: InFlight<ReturnType<typeof publish>> = new InFlight(1_000, ({ name }) => {
    names.push(name)
    if (name === 'a') inFlight.add(publish('b'))
  })
  inFlight.add(publish('a'))
  jest.advanceTimersByTime(1_999)
  expect(names).toEqual(['a'])
  jest.advanceTimersByTime(1)
  expect(names).toEqual(['a', 'b'])
})
