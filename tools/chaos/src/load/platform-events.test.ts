import type { PlatformEvent } from '@switchhook/contracts'
import { startPlatformEvents } from './platform-events.ts'

test('a burst publishes the same batch twice at the same moment, and every publish is counted', async () => {
  const published: string[] = []
  const isConfirmed = [false]
  const events = startPlatformEvents({
    publish: async ({ eventId }: PlatformEvent) => {
      published.push(eventId)
      return isConfirmed.shift() ?? true
    },
    close: async () => {},
  })
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
