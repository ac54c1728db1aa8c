import { lanesOf, planOf, selectionOf } from './plan.ts'

const GIGABYTE = 2 ** 30

test.each([
  [2, 24, 6],
  [1, 24, 3],
  [2, 3.9, 3],
  [16, 8, 8],
  [1, 0.5, 2],
])('%d cores and %d GB of free memory have %d lanes', (cores, gigabytes, lanes) => {
  expect(lanesOf(cores, gigabytes * GIGABYTE)).toBe(lanes)
})

test('the shards of a project are one of each number', () => {
  const shards = planOf('test', [])
    .parts.filter(({ project }) => project === 'it')
    .map(({ args }) => args[0])
  expect(shards).toEqual(['--shard=1/3', '--shard=2/3', '--shard=3/3'])
})

test('patterns select files of each part, but not the checks that come first', () => {
  const { first, parts } = planOf('test', ['journey', 'classify'])
  for (const { args } of parts)
    expect(args.slice(-3)).toEqual(['--passWithNoTests', '--testPathPatterns=journey', '--testPathPatterns=classify'])
  expect(first.args).toEqual([])
})

test('the long tests run one after the other', () => {
  expect(planOf('test-long', [])).toMatchObject({ lanes: 1, parts: [{ project: 'long' }, { project: 'browser-long' }] })
})

test('a pattern is text, not an expression', () => {
  expect(selectionOf(['a.it', '('])).toEqual(['--testPathPatterns=a\\.it', '--testPathPatterns=\\('])
})
