import type { PlatformEvent } from '@switchhook/contracts'
import { startPlatformEvents } from './platform-events.ts'

test('a burst publishes the same batch twice at the same moment, and every publish is counted', async () => {
  const published: string[] = []
  const isConfirmed = [false]
  const publisher = {
    publish: async ({ eventId }: PlatformEvent) => {
      published.push(eventId)
      return isConfirmed.shift() ?? true
    },
    close: async () => {},
  }
  const events = startPlatformEvents(publisher, () => true)
  events.burst(3)
  const atOnce = [...published]
  await events.stop()
  const [first = '', second = '', third = ''] = atOnce
  expect(atOnce).toEqual([first, second, third, first, second, third])
  expect([...events.publishes]).toEqual([
    [first, 3],
    [second, 2],
    [third, 2],
  ])
  expect(events.confirmed.toSorted()).toEqual([first, first, second, second, third, third].toSorted())
})

test('publishes no faster than its events arrive', async () => {
  jest.useFakeTimers()
  const published: string[] = []
  const arrived = new Set<string>()
  const publisher = {
    publish: async ({ eventId }: PlatformEvent) => published.push(eventId) > 0,
    close: async () => {},
  }
  const events = startPlatformEvents(publisher, (eventId) => arrived.has(eventId))
  const distinct = () => new Set(published).size
  await jest.advanceTimersByTimeAsync(60_000)
  const most = distinct()
  await jest.advanceTimersByTimeAsync(60_000)
  expect(distinct()).toBe(most)
  for (const eventId of published.slice(0, 10)) arrived.add(eventId)
  await jest.advanceTimersByTimeAsync(60_000)
  expect(distinct()).toBe(most + arrived.size)
  jest.useRealTimers()
  await events.stop()
})
