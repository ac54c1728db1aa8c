import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endBy } from '../interruption.ts'
import type { Part } from '../plan.ts'
import { problemsOf } from '../report.ts'
import { runTests } from '../run-tests.ts'

/** Runs fakes of Jest in two lanes, and prints how the run ended as one line of JSON. */
const part = (project: string): Part => ({ name: project, project, args: [] })
const end = await runTests({
  plan: { first: part('good'), parts: process.argv.slice(2).map(part), lanes: 2 },
  root: tmpdir(),
  program: join(import.meta.dirname, 'fake-jest.ts'),
  terminal: process.stderr,
  build: async () => {},
  expectedMs: async () => new Map(),
})
if (end.kind === 'interrupted') endBy(end.signal)
else
  process.stdout.write(
    `${JSON.stringify(end.kind === 'complete' ? { ...end, problems: problemsOf(end.outcome) } : end)}\n`,
  )
