import * as fc from 'fast-check'
import { FairTurns } from './fair-turns.ts'

/** Runs what is queued; every turn is given back as soon as it is recorded. */
async function drain(turns: FairTurns<string>, lines: Readonly<Record<string, readonly number[]>>): Promise<string[]> {
  const order: string[] = []
  const all = Object.entries(lines).flatMap(([key, costs]) =>
    costs.map(async (cost) => {
      await turns.take(key)
      order.push(key)
      turns.charge(key, cost)
      turns.giveBack()
    }),
  )
  turns.setOpen(true)
  await Promise.all(all)
  return order
}

const closed = (limit: number): FairTurns<string> => new FairTurns<string>(limit, { isOpen: false })
const ofCost = (count: number, cost: number): number[] => Array.from({ length: count }, () => cost)

test('a key with little work does not wait behind a key with much', async () => {
  const order = await drain(closed(1), { burst: ofCost(1_000, 1), small: ofCost(2, 1) })
  expect(order.indexOf('small')).toBeLessThan(50)
  expect(order.lastIndexOf('small')).toBeLessThan(100)
})

test('keys share by deliveries, not by events', async () => {
  const order = await drain(closed(1), { twenty: ofCost(200, 20), sixty: ofCost(200, 60) })
  const firstHalf = order.slice(0, 200)
  const events = (key: string): number => firstHalf.filter((other) => other === key).length
  expect(events('twenty') / events('sixty')).toBeGreaterThan(2)
})

test('every turn that is asked for is given once, and never more than the limit at a time', async () => {
  const lines = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.array(fc.integer({ min: 0, max: 500 })))
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 5 }), async (costs, limit) => {
      const turns = closed(limit)
      let inUse = 0
      const given: string[] = []
      const all = Object.entries(costs).flatMap(([key, line]) =>
        line.map(async (cost) => {
          await turns.take(key)
          inUse += 1
          expect(inUse).toBeLessThanOrEqual(limit)
          given.push(key)
          await Promise.resolve()
          inUse -= 1
          turns.charge(key, cost)
          turns.giveBack()
        }),
      )
      turns.setOpen(true)
      await Promise.all(all)
      expect(given).toHaveLength(Object.values(costs).flat().length)
      expect(turns.hasWork()).toBe(false)
    }),
  )
})

test('while closed, no turn starts', async () => {
  const turns = closed(2)
  let started = false
  const waiting = Promise.resolve(turns.take('a')).then(() => (started = true))
  expect([turns.isWaiting('a'), turns.isWaiting('b')]).toEqual([true, false])
  await new Promise(setImmediate)
  expect(started).toBe(false)
  turns.setOpen(true)
  await waiting
})

test('`endWaits` ends every wait without a turn, and no later one', async () => {
  const turns = closed(1)
  const waiting = turns.take('a')
  turns.endWaits()
  expect(await waiting).toBe(false)
  turns.setOpen(true)
  expect(await turns.take('a')).toBe(true)
})

test('`endWaitsOf` ends the waits of one key; the others keep their places', async () => {
  const turns = closed(1)
  const [first, other, second] = [turns.take('a'), turns.take('b'), turns.take('a')]
  turns.endWaitsOf('a')
  turns.endWaitsOf('c')
  expect(await Promise.all([first, second])).toEqual([false, false])
  turns.setOpen(true)
  expect(await other).toBe(true)
})

test('`stop` ends every wait without a turn, and all later ones', async () => {
  const turns = closed(1)
  const waiting = turns.take('a')
  turns.stop()
  expect(await waiting).toBe(false)
  turns.setOpen(true)
  expect(await turns.take('a')).toBe(false)
})
