import { FAULT_KINDS } from './faults/plan.ts'
import { readOptions } from './options.ts'

test('the defaults are 27 faults of all kinds, a random seed and no report', () => {
  const { seeds, ...rest } = readOptions({})
  expect(rest).toEqual({ kills: 27, kinds: FAULT_KINDS, report: undefined, home: '.local/chaos' })
  expect(seeds).toHaveLength(1)
  expect(readOptions({}).seeds).not.toEqual(seeds)
})

test('a seed is a number or random, and several can be combined', () => {
  expect(readOptions({ KILLS: '200', SEED: '123', REPORT: 'docs/x.md' })).toMatchObject({
    kills: 200,
    seeds: [123],
    report: 'docs/x.md',
  })
  expect(readOptions({ SEED: '5,random' }).seeds).toEqual([5, expect.any(Number)])
})

test('fault kinds are selected by name', () => {
  expect(readOptions({ FAULTS: 'rotate,delete' }).kinds).toEqual(['rotate', 'delete'])
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
