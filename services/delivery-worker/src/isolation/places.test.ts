import { Unavailable } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import { createPlaces } from './places.ts'

type Begin = 'begin' | 'beginBacklogged'

/** Eight places; two for backlogs while others are due. */
function start() {
  let nowMs = 0
  const places = createPlaces(8, { nowMs: () => nowMs })
  const ends: (() => void)[] = []
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const wait = async (which: Begin): Promise<void> => void ends.push(await places[which]())
  return {
    places,
    /** Resolves to the number of deliveries that have begun. */
    ask: async (which: Begin, count: number): Promise<number> => {
      for (let n = 0; n < count; n++) wait(which).catch(() => {})
      await settled()
      return ends.length
    },
    endOne: async (): Promise<number> => {
      ends.shift()?.()
      await settled()
      return ends.length
    },
    passMs: (ms: number) => (nowMs += ms),
    begun: () => ends.length,
  }
}

test.each<Begin>(['begin', 'beginBacklogged'])(
  '%s: as many deliveries as there are places, and the next when one ends',
  async (which) => {
    const { ask, endOne, places } = start()
    expect(await ask(which, 12)).toBe(8)
    expect(await endOne()).toBe(8)
    places.stop()
  },
)

test('deliveries of backlogs take a quarter of the places while others are due, and all after a second without', async () => {
  const { places, ask, endOne, passMs } = start()
  places.noteDue()
  expect(await ask('beginBacklogged', 12)).toBe(2)
  expect(await endOne()).toBe(2)
  passMs(1_001)
  // One that hangs, and eight with a place.
  expect(await endOne()).toBe(9)
  places.stop()
})

test('due deliveries do not wait for those of backlogs', async () => {
  const { ask, places } = start()
  expect(await ask('beginBacklogged', 9)).toBe(8)
  expect(await ask('begin', 9)).toBe(16)
  places.stop()
})

test('deliveries that hang hold no place, until three times as many as there are places are in progress', async () => {
  const { ask, passMs, begun, endOne, places } = start()
  expect(await ask('begin', 30)).toBe(8)
  for (const count of [16, 24]) {
    passMs(100)
    await eventually(() => expect(begun()).toBe(count))
  }
  passMs(100)
  expect(await endOne()).toBe(24)
  places.stop()
})

test('a worker that stops ends all waits, and begins no other delivery', async () => {
  const { places, ask } = start()
  await ask('begin', 8)
  const waiting = Promise.resolve(places.begin())
  places.stop()
  await expect(waiting).rejects.toThrow(Unavailable)
  expect(() => places.begin()).toThrow(Unavailable)
  expect(() => places.beginBacklogged()).toThrow(Unavailable)
})
