import * as fc from 'fast-check'
import { inParallel } from './in-parallel.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('every item is worked on once, never more than the width at a time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(50), fc.integer({ min: 1, max: 10 }), async (count, width) => {
      let [running, most] = [0, 0]
      const seen: number[] = []
      const items = Array.from({ length: count }, (_, n) => n)
      await inParallel(items, width, async (item) => {
        most = Math.max(most, ++running)
        seen.push(item)
        await turn()
        running -= 1
      })
      expect(seen).toEqual(items)
      expect(most).toBe(Math.min(width, count))
    }),
    { numRuns: 30 },
  )
})

test('a failure is handed on, and nothing begins after it', async () => {
  const begun: number[] = []
  const work = async (item: number): Promise<void> => {
    begun.push(item)
    await turn()
    if (item === 2) throw new Error('the third')
  }
  await expect(inParallel([0, 1, 2, 3, 4, 5, 6, 7, 8], 3, work)).rejects.toThrow('the third')
  await turn()
  expect(begun.length).toBeLessThan(9)
  expect(begun).not.toContain(8)
})
