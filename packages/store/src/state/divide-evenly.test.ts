import * as fc from 'fast-check'
import { divideEvenly } from './divide-evenly.ts'

test.each<[string, number, number[], number, [number, number][]]>([
  ['one partition gets everything', 10, [3], 0, [[3, 10]]],
  [
    'the remainder goes to the first partitions',
    10,
    [0, 1, 2],
    0,
    [
      [0, 4],
      [1, 3],
      [2, 3],
    ],
  ],
  [
    'the next round begins with another partition',
    2,
    [0, 1, 2],
    4,
    [
      [1, 1],
      [2, 1],
    ],
  ],
  ['no partition has entries', 10, [], 7, []],
  ['a maximum of 0', 0, [1, 2], 0, []],
])('%s', (_name, max, parts, turn, expected) => expect(divideEvenly(max, parts, turn)).toEqual(expected))

const parts = fc.uniqueArray(fc.nat({ max: 15 }))

test('the shares add up to the maximum and differ by at most one', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 5_000 }),
      parts.filter((some) => some.length > 0),
      fc.nat(),
      (max, some, turn) => {
        const counts = divideEvenly(max, some, turn).map(([, count]) => count)
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(max)
        expect(Math.max(0, ...counts) - Math.min(...counts, Infinity)).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test('each partition gets a share within as many rounds as there are partitions', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), parts, fc.nat({ max: 1_000 }), (max, some, first) => {
      const served = some.flatMap((_, i) => divideEvenly(max, some, first + i).map(([part]) => part))
      expect(new Set(served)).toEqual(new Set(some))
    }),
  )
})
