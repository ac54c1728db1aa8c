import { readTrial, signedAtMs, withTrial } from './trial.ts'

const plain = { 'X-SVC-Attempt': '1' }
const signed = { ...plain, 'webhook-id': 'id', 'webhook-timestamp': '1', 'webhook-signature': 'v1,ours' }

test('an ordinary delivery is sent unchanged', () => {
  expect(withTrial(undefined, signed)).toBe(signed)
})

test('a trial is marked, and signed as usual', () => {
  expect(withTrial('test', signed)).toEqual({ ...signed, 'X-SVC-Test': 'true' })
  expect(withTrial('stale', signed)).toEqual({ ...signed, 'X-SVC-Test': 'true' })
})

test('a forged trial has a well-formed signature that is wrong', () => {
  const { 'webhook-signature': signature, ...rest } = withTrial('forged', signed)
  expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
  expect(rest).toEqual({ ...plain, 'webhook-id': 'id', 'webhook-timestamp': '1', 'X-SVC-Test': 'true' })
  expect(withTrial('forged', plain)).toEqual({ ...plain, 'X-SVC-Test': 'true' })
})

test('only a stale trial is signed with a past time', () => {
  expect([undefined, 'test' as const, 'forged' as const].map((trial) => signedAtMs(trial, 5_000_000))).toEqual([
    5_000_000, 5_000_000, 5_000_000,
  ])
  expect(signedAtMs('stale', 5_000_000)).toBe(1_400_000)
})

test('an unknown kind of trial is ignored', () => {
  expect(['test', 'stale', 'later', 3, undefined].map(readTrial)).toEqual([
    'test',
    'stale',
    undefined,
    undefined,
    undefined,
  ])
})
