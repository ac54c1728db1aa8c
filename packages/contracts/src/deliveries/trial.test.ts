import { readTrial, signedAtMs, withTrial } from './trial.ts'

const plain = { 'X-SVC-Attempt': '1' }
const signed = { ...plain, 'webhook-id': 'id', 'webhook-timestamp': '1', 'webhook-signature': 'v1,ours' }

test('what has happened goes out as it is', () => {
  expect(withTrial(undefined, signed)).toBe(signed)
})

test('whatever is tried is marked, and signed as ever', () => {
  expect(withTrial('test', signed)).toEqual({ ...signed, 'X-SVC-Test': 'true' })
  expect(withTrial('stale', signed)).toEqual({ ...signed, 'X-SVC-Test': 'true' })
})

test('a forged one has a signature of the right form that is not ours', () => {
  const { 'webhook-signature': signature, ...rest } = withTrial('forged', signed)
  expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
  expect(rest).toEqual({ ...plain, 'webhook-id': 'id', 'webhook-timestamp': '1', 'X-SVC-Test': 'true' })
  expect(withTrial('forged', plain)).toEqual({ ...plain, 'X-SVC-Test': 'true' })
})

test('only a stale one is signed with a time that is past', () => {
  expect([undefined, 'test' as const, 'forged' as const].map((trial) => signedAtMs(trial, 5_000_000))).toEqual([
    5_000_000, 5_000_000, 5_000_000,
  ])
  expect(signedAtMs('stale', 5_000_000)).toBe(1_400_000)
})

test('a trial that this version does not know is none', () => {
  expect(['test', 'stale', 'later', 3, undefined].map(readTrial)).toEqual([
    'test',
    'stale',
    undefined,
    undefined,
    undefined,
  ])
})
