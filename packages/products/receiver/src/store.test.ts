import { compare, type Position } from './store.ts'

const at = (occurredAt: string, sequence: number, ended = false): Position => ({ occurredAt, sequence, ended })
const [NOON, LATER] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:00:00.001Z']

test.each<[string, Position | undefined, Position, boolean, number]>([
  ['the first one proves no gap', undefined, at(NOON, 7), true, 0],
  ['the next one', at(NOON, 1), at(LATER, 2), true, 0],
  ['one after a gap', at(NOON, 1), at(LATER, 5), true, 3],
  ['the same one', at(NOON, 2), at(NOON, 2), false, 0],
  ['an older one', at(LATER, 2), at(NOON, 1), false, 0],
  ['a higher sequence at the same time', at(NOON, 1), at(NOON, 2), true, 0],
  ['a later time with a sequence that is counted again, after a restore', at(NOON, 9), at(LATER, 2), true, 0],
  ['a higher sequence at an earlier time', at(LATER, 1), at(NOON, 2), false, 0],
  ['the same time in another notation', at(NOON, 2), at('2026-11-20T13:00:00+01:00', 2), false, 0],
  ['anything after the end', at(NOON, 4, true), at(LATER, 5), false, 0],
  ['the end itself', at(NOON, 3), at(LATER, 4, true), true, 0],
])('%s', (_case, last, next, newer, missed) => {
  expect(compare(last, next)).toEqual({ newer, missed })
})
