import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from '../build.ts'
import { endBy } from '../interruption.ts'
import type { Part } from '../plan.ts'
import { problemsOf } from '../report.ts'
import { runTests } from '../run-tests.ts'

/**
 * Runs fakes of Jest in two lanes beside a script that takes the place of the build, and prints how the run ended as one line
 * of JSON.
 */
const part = (project: string): Part => ({ name: project, project, args: [] })
const [script = '', first = '', ...projects] = process.argv.slice(2)
const end = await runTests({
  plan: { first: part(first), parts: projects.map(part), lanes: 2 },
  root: tmpdir(),
  program: join(import.meta.dirname, 'fake-jest.ts'),
  terminal: process.stderr,
  build: (env) => build(['sh', '-c', script], tmpdir(), env),
  expectedMs: async () => new Map(projects.map((project) => [`${project}.test.ts`, 1])),
})
if (end.kind === 'interrupted') endBy(end.signal)
else
  process.stdout.write(
    `${JSON.stringify(end.kind === 'complete' ? { ...end, problems: problemsOf(end.outcome) } : end)}\n`,
  )
