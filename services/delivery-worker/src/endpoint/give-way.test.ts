import type { Delivery } from '@switchhook/contracts'
import { eventually } from '@switchhook/testkit'
import { createGiveWay } from './give-way.ts'

const delivery = {} as Delivery

function start() {
  let nowMs = 0
  const giveWay = createGiveWay(2, { nowMs: () => nowMs })
  const ends: (() => void)[] = []
  const second = giveWay.second(() => new Promise<void>((resolve) => void ends.push(resolve)))
  const first = giveWay.first(async () => {})
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    first: () => first(delivery),
    /** Resolves to the number of deliveries of backlogs that have started. */
    backlog: async (count: number) => {
      const all = Array.from({ length: count }, () => second(delivery))
      await settle()
      return { started: ends.length, all }
    },
    endOne: async () => {
      ends.shift()?.()
      await settle()
      return ends.length
    },
    ends,
    passMs: (ms: number) => (nowMs += ms),
  }
}

test('without other deliveries, those of backlogs are not limited', async () => {
  const { backlog } = start()
  expect((await backlog(10)).started).toBe(10)
})

test('while others are due, a limited number of them is in progress, and the next starts when one ends', async () => {
  const { first, backlog, endOne } = start()
  await first()
  expect((await backlog(5)).started).toBe(2)
  expect(await endOne()).toBe(2)
  // The timer of those that still wait would keep the test process alive.
  for (let ended = 1; ended < 5; ended += 1) await endOne()
})

test('when no other was due for a while, all that wait start with the next end', async () => {
  const { first, backlog, endOne, passMs } = start()
  await first()
  expect((await backlog(5)).started).toBe(2)
  passMs(1_001)
  expect(await endOne()).toBe(4)
})

test('deliveries that take long do not count, so those that wait start in their order', async () => {
  const { first, backlog, ends, passMs } = start()
  await first()
  const { started, all } = await backlog(5)
  const startedAfter: number[] = [started]
  for (let n = 2; n < 6; n += 2) {
    passMs(100)
    await eventually(() => expect(ends).toHaveLength(Math.min(n + 2, 5)))
    startedAfter.push(ends.length)
  }
  expect(startedAfter).toEqual([2, 4, 5])
  for (const end of ends) end()
  await Promise.all(all)
})

test('a delivery that fails gives its place to the next', async () => {
  const giveWay = createGiveWay(1, { nowMs: () => 0 })
  await giveWay.first(async () => {})(delivery)
  let failed = false
  const second = giveWay.second(async () => {
    if (!failed) {
      failed = true
      throw new Error('a bug')
    }
  })
  const results = await Promise.allSettled([second(delivery), second(delivery)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})
