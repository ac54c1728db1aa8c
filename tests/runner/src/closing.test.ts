import { closingOf } from './closing.ts'
import type { FileResult } from './run-part.ts'
import type { RunEnd } from './run-tests.ts'
import { aFileResult } from './testing/a-file-result.ts'

const file = aFileResult()
const part = (project: string, ...files: readonly FileResult[]) => ({
  part: { name: project, project, args: [] },
  files,
})
const complete = (...files: readonly FileResult[]): RunEnd => ({
  kind: 'complete',
  outcome: { results: [part('preflight', file), part('it', ...files)], again: undefined, notRun: [], leftovers: [] },
  buildMs: 7_000,
  left: [],
})
const close = (end: RunEnd) =>
  closingOf(end, {
    patterns: ['journey', 'classify'],
    report: '.local/report.txt',
    tookMs: 61_000,
    machineState: async () => ['load 1.0'],
  })

test('a run that passed tells its times; the report has all files', async () => {
  const { said, report, hasFailed } = await close(complete(file))
  expect(said).toBe(
    [
      '',
      'Slowest files:',
      '     1.5 s  it a',
      '     1.5 s  it a',
      '',
      'Took 61 s, 7 s of them for the build. Report: .local/report.txt',
      '6 passed, 0 failed',
    ].join('\n'),
  )
  expect(report).toMatch(/^All files:\n/)
  expect(report).toContain(said)
  expect(hasFailed).toBe(false)
})

test('a run that failed also tells the failure and the state of the machine; the report has the log of RabbitMQ', async () => {
  const brokerLog = '[error] no leader'
  const { said, report, hasFailed } = await close(complete({ ...file, failed: 1, failure: 'expected 1', brokerLog }))
  expect(report).toContain("RabbitMQ's log during it a:\n[error] no leader\n")
  expect(said).toContain("Report: .local/report.txt (with RabbitMQ's log of the failed files)\n")
  expect(said).toMatch(/^\nFAILED {2}it a\n\nexpected 1\n/)
  expect(said).toContain('Machine:\n  load 1.0\n')
  expect(said).toMatch(/\n6 passed, 1 failed$/)
  expect(hasFailed).toBe(true)
})

const LONG = 'error TS2322\n'.repeat(200)
test.each([
  [
    'no server starts',
    { kind: 'impossible', cause: 'no Redis\n install it', left: [] },
    '\nNOT TESTED: no Redis install it\nWhat the tests need: CONTRIBUTING.md, "Set up" and "Run one test".\nReport: .local/report.txt\n0 passed, 1 failed',
    'NOT TESTED: no Redis\n install it\n',
  ],
  [
    'the build fails, with all that it printed',
    { kind: 'impossible', cause: 'make build failed.', output: LONG, left: [] },
    `\n${LONG}\n\nNOT TESTED: make build failed.\nReport: .local/report.txt\n0 passed, 1 failed`,
    `NOT TESTED: make build failed.\n${LONG}\n`,
  ],
  [
    'no file has the name',
    complete(),
    '\nNOT TESTED: No path of a test contains journey or classify.\nReport: .local/report.txt\n0 passed, 1 failed',
    'NOT TESTED: No path of a test contains journey or classify.\n',
  ],
] satisfies [string, RunEnd, string, string][])('nothing is tested if %s', async (_cause, end, said, report) => {
  expect(await close(end)).toEqual({ said, report, hasFailed: true })
})

test.each([
  [[], '\nInterrupted by SIGINT. Nothing of this run is left running.'],
  [['42 redis-server'], '\nInterrupted by SIGINT. Of this run, there still is:\nLEFT BEHIND  42 redis-server'],
])('an interrupted run tells what is left: %j', async (left, said) => {
  expect(await close({ kind: 'interrupted', signal: 'SIGINT', left })).toEqual({ said, hasFailed: true })
})

test('what is left at the end of a run is a problem', async () => {
  expect((await close({ ...complete(file), left: ['42 redis-server'] })).said).toMatch(
    /^\nLEFT BEHIND {2}42 redis-server\n/,
  )
})
