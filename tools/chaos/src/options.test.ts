import { FAULT_KINDS } from './faults/plan.ts'
import { readOptions } from './options.ts'

test('the defaults are 29 faults of all kinds, a random seed and no report', () => {
  const { SEED, ...rest } = readOptions({})
  expect(rest).toEqual({ KILLS: 29, FAULTS: FAULT_KINDS, REPORT: undefined, SWITCHHOOK_HOME: '.local' })
  expect(SEED).toHaveLength(1)
  expect(readOptions({}).SEED).not.toEqual(SEED)
})

test('a seed is a number or random, and several can be combined', () => {
  expect(readOptions({ KILLS: '200', SEED: '123', REPORT: 'docs/x.md' })).toMatchObject({
    KILLS: 200,
    SEED: [123],
    REPORT: 'docs/x.md',
  })
  expect(readOptions({ SEED: '5,random' }).SEED).toEqual([5, expect.any(Number)])
})

test('fault kinds are selected by name', () => {
  expect(readOptions({ FAULTS: 'rotate,delete' }).FAULTS).toEqual(['rotate', 'delete'])
})

test.each([
  { SEED: 'x' },
  { SEED: '1,' },
  { SEED: '1234567890' },
  { KILLS: '0' },
  { FAULTS: 'rotate,unknown' },
  { FAULTS: 'rotate,' },
])('%j is refused', (env) => {
  expect(() => readOptions(env)).toThrow(/SEED must|KILLS must|FAULTS must/)
})
