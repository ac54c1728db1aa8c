import { judgeUnknown, MAX_AT_ONCE, MIN_ROUNDS, MIN_UNKNOWN_MS, type Sightings } from './leftovers.ts'

const AT_MS = Date.UTC(2026, 0, 1)
const some = (count: number, isTalking = false) =>
  Array.from({ length: count }, (_, at) => ({ id: `channel-${at}`, isTalking }))
const seen = (rounds: number, agoMs: number, count = 1): Sightings =>
  new Map(some(count).map(({ id }) => [id, { rounds, sinceMs: AT_MS - agoMs }]))

test.each([
  ['in the first round', new Map(), 1, false, 0, false],
  ['for minutes, but in too few rounds', seen(MIN_ROUNDS - 2, MIN_UNKNOWN_MS), 1, false, 0, false],
  ['in many rounds, but for too short a time', seen(20, MIN_UNKNOWN_MS - 1), 1, false, 0, false],
  ['long enough', seen(MIN_ROUNDS - 1, MIN_UNKNOWN_MS), 1, false, 1, false],
  ['long enough, and talks to another channel', seen(20, 20 * MIN_UNKNOWN_MS), 1, true, 0, false],
  ['long enough, as many as one round removes', seen(20, MIN_UNKNOWN_MS, MAX_AT_ONCE), MAX_AT_ONCE, false, 5, false],
  ['long enough, and more than one round removes', seen(20, MIN_UNKNOWN_MS, 6), MAX_AT_ONCE + 1, false, 0, true],
] as const)('a channel that is unknown %s', (_when, before: Sightings, count, isTalking, removed, isHeldBack) => {
  const judgement = judgeUnknown(before, some(count, isTalking), AT_MS)
  expect([judgement.leftovers.length, judgement.isHeldBack]).toEqual([removed, isHeldBack])
})

test('a channel that is known again begins anew', () => {
  const known = judgeUnknown(seen(20, MIN_UNKNOWN_MS), [], AT_MS)
  expect(judgeUnknown(known.sightings, some(1), AT_MS).sightings).toEqual(seen(1, 0))
})
