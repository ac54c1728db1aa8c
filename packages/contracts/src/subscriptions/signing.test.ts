import { formerSecretsAt, formerValidUntil, rotateSecret, type Signing } from './signing.ts'

const DAY_MS = 24 * 60 * 60_000
const NOON = Date.parse('2026-11-20T12:00:00.000Z')
const at = (ms: number): string => new Date(ms).toISOString()

const first = rotateSecret(undefined, { id: '1', secret: 'one' }, NOON, DAY_MS)
const second = rotateSecret(first, { id: '2', secret: 'two' }, NOON + 1_000, DAY_MS)

test('the first secret has no previous secrets', () => {
  expect(first).toEqual({ id: '1', secret: 'one', since: at(NOON), former: [] })
  expect(formerValidUntil(first, NOON)).toBeNull()
})

test('the previous secret signs during the overlap, but not at its end', () => {
  const until = NOON + 1_000 + DAY_MS
  expect(second).toEqual({
    id: '2',
    secret: 'two',
    since: at(NOON + 1_000),
    former: [{ secret: 'one', until: at(until) }],
  })
  expect(formerSecretsAt(second, until - 1).map(({ secret }) => secret)).toEqual(['one'])
  expect(formerValidUntil(second, until - 1)).toBe(at(until))
  expect(formerSecretsAt(second, until)).toEqual([])
  expect(formerValidUntil(second, until)).toBeNull()
})

test('after two rotations the first secret still signs until its own end: receivers may know no other', () => {
  const third = rotateSecret(second, { id: '3', secret: 'three' }, NOON + 5_000, DAY_MS)
  expect(third.former).toEqual([
    { secret: 'two', until: at(NOON + 5_000 + DAY_MS) },
    { secret: 'one', until: at(NOON + 1_000 + DAY_MS) },
  ])
  expect(formerValidUntil(third, NOON + 6_000)).toBe(at(NOON + 5_000 + DAY_MS))
})

test('a shorter overlap also shortens earlier ones, and with 0 only the new secret signs', () => {
  const shorter = rotateSecret(second, { id: '3', secret: 'three' }, NOON + 5_000, 2_000)
  expect(shorter.former).toEqual([
    { secret: 'two', until: at(NOON + 7_000) },
    { secret: 'one', until: at(NOON + 7_000) },
  ])
  expect(rotateSecret(second, { id: '3', secret: 'three' }, NOON + 5_000, 0).former).toEqual([])
})

test('the next rotation removes expired secrets', () => {
  const late = NOON + 3 * DAY_MS
  const third: Signing = rotateSecret(second, { id: '3', secret: 'three' }, late, DAY_MS)
  expect(third.former.map(({ secret }) => secret)).toEqual(['two'])
})
