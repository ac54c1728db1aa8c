import { readOptions } from './options.ts'

test('a run has about twenty faults of a seed that is drawn, and writes nothing', () => {
  const { seeds, ...rest } = readOptions({})
  expect(rest).toEqual({ kills: 20, report: undefined, home: '.local/chaos' })
  expect(seeds).toHaveLength(1)
  expect(readOptions({}).seeds).not.toEqual(seeds)
})

test('seeds are given, drawn, or both', () => {
  expect(readOptions({ KILLS: '200', SEED: '123', REPORT: 'docs/x.md' })).toMatchObject({
    kills: 200,
    seeds: [123],
    report: 'docs/x.md',
  })
  expect(readOptions({ SEED: '5,random' }).seeds).toEqual([5, expect.any(Number)])
})

test.each([{ SEED: 'x' }, { SEED: '1,' }, { SEED: '1234567890' }, { KILLS: '0' }])('%j is refused', (env) => {
  expect(() => readOptions(env)).toThrow(/SEED must|KILLS must/)
})
