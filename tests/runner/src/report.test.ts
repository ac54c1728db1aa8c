import { causeOf, countsOf, type Outcome, partsToRepeat, problemsOf } from './report.ts'
import type { FileResult, PartResult } from './run-part.ts'
import { aFileResult } from './testing/a-file-result.ts'

const file = (path: string, failed = 0): FileResult =>
  aFileResult({ path, failed, ms: 10, failure: failed > 0 ? `failure of ${path}` : '' })
const part = (files: readonly FileResult[], problem?: string): PartResult => ({
  part: { name: 'it-1', project: 'it', args: [] },
  files,
  ...(problem !== undefined && { problem }),
})
const outcome = (results: readonly PartResult[], again?: readonly PartResult[]): Outcome => ({
  results,
  again,
  notRun: [],
  leftovers: [],
})

test('files that failed run again, unless too many have failed or a process has ended', () => {
  const failing = part([file('a', 1), file('b')])
  expect(partsToRepeat([failing, part([file('c')])])).toEqual([failing])
  expect(partsToRepeat([failing, part([file('c')], 'killed')])).toEqual([])
  expect(partsToRepeat([part(['a', 'b', 'c', 'd'].map((path) => file(path, 1)))])).toEqual([])
})

test.each([
  ['passes alone', outcome([part([file('a', 1), file('b')])], [part([file('a')])]), 7, 0, ['UNSTEADY']],
  ['fails again', outcome([part([file('a', 2)])], [part([file('a', 1)])]), 4, 1, ['FAILED']],
  ['did not run again', outcome([part([file('a', 1)], 'killed')]), 3, 2, ['FAILED', 'FAILED']],
  ['ended while it ran again', outcome([part([file('a', 1)])], [part([], 'killed')]), 3, 1, ['FAILED', 'FAILED']],
])('a failed file that %s', (_name, end, passed, failed, headings) => {
  expect(countsOf(end)).toEqual({ passed, failed })
  const problems = problemsOf(end)
  expect(problems.map((problem) => problem.split(' ', 1)[0])).toEqual(headings)
  expect(problems[0]).toContain('failure of a')
})

test('files that a process left out when it ended are named', () => {
  expect(problemsOf({ ...outcome([]), notRun: ['a', 'b'] })).toEqual(['NOT RUN\n  a\n  b'])
})

test('what is left behind is a problem', () => {
  expect(problemsOf({ ...outcome([]), leftovers: ['it-1: 42 redis-server'] })).toEqual([
    'LEFT BEHIND  it-1: 42 redis-server',
  ])
})

test('the cause that ends a run is one line without places in the code', () => {
  const failure = '  ● PostgreSQL starts\n\n    No place.\n    Do this.\n\n      12 | code\n\n      at f (a.ts:1:2)\n'
  expect(causeOf(failure)).toBe('● PostgreSQL starts No place. Do this.')
  expect(causeOf(`Redis ended:\n${'a line of its log\n'.repeat(200)}no memory\n`)).toMatch(
    /^Redis ended: .* … .* no memory$/,
  )
})
