import * as fc from 'fast-check'
import { share } from './share.ts'

test.each<[string, number, number[], number, [number, number][]]>([
  ['one part gets everything', 10, [3], 0, [[3, 10]]],
  [
    'what cannot be divided goes to the first ones',
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
    'another turn begins elsewhere',
    2,
    [0, 1, 2],
    4,
    [
      [1, 1],
      [2, 1],
    ],
  ],
  ['nobody has anything', 10, [], 7, []],
  ['nothing is to be had', 0, [1, 2], 0, []],
])('%s', (_name, max, parts, turn, expected) => expect(share(max, parts, turn)).toEqual(expected))

const parts = fc.uniqueArray(fc.nat({ max: 15 }))

test('the shares add up to what was asked for, and differ by one at most', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 5_000 }),
      parts.filter((some) => some.length > 0),
      fc.nat(),
      (max, some, turn) => {
        const counts = share(max, some, turn).map(([, count]) => count)
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(max)
        expect(Math.max(0, ...counts) - Math.min(...counts, Infinity)).toBeLessThanOrEqual(1)
      },
    ),
  )
})

test('in as many turns as there are parts each of them gets something', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), parts, fc.nat({ max: 1_000 }), (max, some, first) => {
      const served = some.flatMap((_, i) => share(max, some, first + i).map(([part]) => part))
      expect(new Set(served)).toEqual(new Set(some))
    }),
  )
})
