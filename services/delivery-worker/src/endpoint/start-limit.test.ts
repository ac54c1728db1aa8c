import { Unavailable } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import { createStartLimit } from './start-limit.ts'

type Start = 'start' | 'startYielding'

/** Eight at a time; two that give way while others are due. */
function aLimit() {
  let nowMs = 0
  const limit = createStartLimit(8, { nowMs: () => nowMs })
  const ends: (() => void)[] = []
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const wait = async (which: Start): Promise<void> => void ends.push(await limit[which]())
  return {
    limit,
    /** Resolves to the number of deliveries that have started. */
    ask: async (which: Start, count: number): Promise<number> => {
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
    started: () => ends.length,
  }
}

test.each<Start>(['start', 'startYielding'])(
  '%s: as many deliveries as the limit, and the next when one ends',
  async (which) => {
    const { ask, endOne, limit } = aLimit()
    expect(await ask(which, 12)).toBe(8)
    expect(await endOne()).toBe(8)
    limit.stop()
  },
)

test('of yielding deliveries, a quarter of the limit starts while others are due, and all of it after a second without', async () => {
  const { limit, ask, endOne, passMs } = aLimit()
  limit.delayYielding()
  expect(await ask('startYielding', 12)).toBe(2)
  expect(await endOne()).toBe(2)
  passMs(1_001)
  // One that no longer counts, and eight that do.
  expect(await endOne()).toBe(9)
  limit.stop()
})

test('while others are due, a yielding one that hangs counts for 100 ms', async () => {
  const { limit, ask, passMs, started } = aLimit()
  limit.delayYielding()
  expect(await ask('startYielding', 4)).toBe(2)
  passMs(100)
  await eventually(() => expect(started()).toBe(4))
  limit.stop()
})

test('due deliveries do not wait for yielding ones', async () => {
  const { ask, limit } = aLimit()
  expect(await ask('startYielding', 9)).toBe(8)
  expect(await ask('start', 9)).toBe(16)
  limit.stop()
})

test('deliveries that hang do not count, until three times the limit are in progress', async () => {
  const { ask, passMs, started, endOne, limit } = aLimit()
  expect(await ask('start', 30)).toBe(8)
  for (const count of [16, 24]) {
    passMs(400)
    await eventually(() => expect(started()).toBe(count))
  }
  passMs(400)
  expect(await endOne()).toBe(24)
  limit.stop()
})

test('a worker that stops ends all waits, and starts no other delivery', async () => {
  const { limit, ask } = aLimit()
  await ask('start', 8)
  const waiting = Promise.resolve(limit.start())
  limit.stop()
  await expect(waiting).rejects.toThrow(Unavailable)
  expect(() => limit.start()).toThrow(Unavailable)
  expect(() => limit.startYielding()).toThrow(Unavailable)
})
