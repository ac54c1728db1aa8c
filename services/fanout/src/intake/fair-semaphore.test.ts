import * as fc from 'fast-check'
import { createFairSemaphore, type FairSemaphore } from './fair-semaphore.ts'

/** Runs what is queued; each key is recorded when it is let in. */
async function drain(
  semaphore: FairSemaphore<string>,
  lines: Readonly<Record<string, readonly number[]>>,
): Promise<string[]> {
  const order: string[] = []
  const all = Object.entries(lines).flatMap(([key, costs]) =>
    costs.map((cost) =>
      semaphore.run(key, async () => {
        order.push(key)
        return cost
      }),
    ),
  )
  semaphore.setOpen(true)
  await Promise.all(all)
  return order
}

const closed = (limit: number): FairSemaphore<string> => createFairSemaphore<string>(limit, { isOpen: false })
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

test('every waiting key is let in once, and never more than the limit at a time', async () => {
  const lines = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), fc.array(fc.integer({ min: 0, max: 500 })))
  await fc.assert(
    fc.asyncProperty(lines, fc.integer({ min: 1, max: 5 }), async (costs, limit) => {
      const semaphore = closed(limit)
      let inUse = 0
      const letIn: string[] = []
      const all = Object.entries(costs).flatMap(([key, line]) =>
        line.map((cost) =>
          semaphore.run(key, async () => {
            inUse += 1
            expect(inUse).toBeLessThanOrEqual(limit)
            letIn.push(key)
            await Promise.resolve()
            inUse -= 1
            return cost
          }),
        ),
      )
      semaphore.setOpen(true)
      await Promise.all(all)
      expect(letIn).toHaveLength(Object.values(costs).flat().length)
      expect(semaphore.hasWork()).toBe(false)
    }),
  )
})

test('while closed, nothing is let in', async () => {
  const semaphore = closed(2)
  let started = false
  const waiting = semaphore.run('a', async () => Number((started = true)))
  expect([semaphore.isWaiting('a'), semaphore.isWaiting('b')]).toEqual([true, false])
  await new Promise(setImmediate)
  expect(started).toBe(false)
  semaphore.setOpen(true)
  await waiting
})

const nothing = async (): Promise<number> => 0

test('work that fails makes room for the next', async () => {
  const semaphore = createFairSemaphore<string>(1)
  await expect(semaphore.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await semaphore.run('a', nothing)).toBe(true)
})

test('`endWaits` ends every wait, and no later one', async () => {
  const semaphore = closed(1)
  const waiting = semaphore.run('a', nothing)
  semaphore.endWaits()
  expect(await waiting).toBe(false)
  semaphore.setOpen(true)
  expect(await semaphore.run('a', nothing)).toBe(true)
})

test('`endWaitsOf` ends the waits of one key; the others keep their places', async () => {
  const semaphore = closed(1)
  const [first, other, second] = [semaphore.run('a', nothing), semaphore.run('b', nothing), semaphore.run('a', nothing)]
  semaphore.endWaitsOf('a')
  semaphore.endWaitsOf('c')
  expect(await Promise.all([first, second])).toEqual([false, false])
  semaphore.setOpen(true)
  expect(await other).toBe(true)
})

test('`stop` ends every wait, and all later ones', async () => {
  const semaphore = closed(1)
  const waiting = semaphore.run('a', nothing)
  semaphore.stop()
  expect(await waiting).toBe(false)
  semaphore.setOpen(true)
  expect(await semaphore.run('a', nothing)).toBe(false)
})
