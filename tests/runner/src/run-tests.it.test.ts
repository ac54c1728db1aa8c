import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { eventually } from '@switchhook/testkit'
import type { RunEnd } from './run-tests.ts'

const program = join(import.meta.dirname, 'testing', 'run-with-fakes.ts')
const withBuild = (script: string, first = 'good') => [process.execPath, '--conditions=source', program, script, first]
const node = withBuild('true')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'runner-'))
})
const started: ChildProcess[] = []
afterEach(() => {
  for (const runner of started.splice(0)) runner.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

function start(command: readonly string[]): { readonly runner: ChildProcess; readonly said: () => string } {
  const [first = '', ...args] = command
  // A run of its own, also within a run.
  const { TEST_RUN: _, MAKELEVEL: __, ...env } = process.env
  const runner = spawn(first, args, { env: { ...env, TMPDIR: folder }, stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(runner)
  let said = ''
  for (const output of [runner.stdout, runner.stderr]) output?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return { runner, said: () => said }
}

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`)

const runOf = (...projects: readonly string[]) => endOf([...node, ...projects])

async function endOf(command: readonly string[]): Promise<RunEnd & { readonly problems: readonly string[] }> {
  const { runner, said } = start(command)
  await once(runner, 'close')
  return JSON.parse(said().trim().split('\n').at(-1) ?? '') as RunEnd & { readonly problems: readonly string[] }
}

/** What the fake says about its servers. */
async function serversIn(said: () => string) {
  const [, pids = '', data = ''] = await eventually(() => {
    const found = /servers ([\d ]+) in (\S+)/.exec(said())
    if (found === null) throw new Error(`no servers yet: ${said()}`)
    return found
  })
  return { pids: pids.split(' ').map(Number), data }
}

async function expectNothingLeft({ pids, data }: Awaited<ReturnType<typeof serversIn>>): Promise<void> {
  await eventually(
    () => {
      expect(pids.filter(isRunning)).toEqual([])
      expect(readdirSync(folder)).toEqual([])
      expect(existsSync(dirname(dirname(data)))).toBe(false)
    },
    { timeoutMs: 10_000 },
  )
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const)(
  'after %s, nothing of the run is left within ten seconds',
  async (signal) => {
    const { runner, said } = start([...node, 'servers', 'servers', 'servers'])
    const servers = await serversIn(said)
    expect(servers.pids.filter(isRunning)).toEqual(servers.pids)
    const ended = once(runner, 'exit')
    runner.kill(signal)
    expect(await ended).toEqual([null, signal])
    await expectNothingLeft(servers)
  },
)

test('after SIGTERM, nothing of the run is left either if its watchdog was killed before', async () => {
  const { runner, said } = start([...node, 'servers'])
  const servers = await serversIn(said)
  const children = readFileSync(`/proc/${runner.pid}/task/${runner.pid}/children`, 'utf8').trim().split(' ').map(Number)
  const watchdog = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('watchdog'))
  if (watchdog === undefined) throw new Error('the run has no watchdog')
  process.kill(watchdog, 'SIGKILL')
  runner.kill('SIGTERM')
  await expectNothingLeft(servers)
})

test('when the terminal is closed, nothing of the run is left', async () => {
  const { runner, said } = start([
    'script',
    '--quiet',
    '--flush',
    '--command',
    // A folder's name can have a blank.
    [...node, 'servers'].map((word) => `'${word}'`).join(' '),
    '/dev/null',
  ])
  const servers = await serversIn(said)
  runner.kill('SIGKILL')
  await expectNothingLeft(servers)
})

test('what a crashed process of Jest has started ends with it, and the others go on', async () => {
  const end = await runOf('crash', 'good')
  expect(end.problems).toEqual([
    expect.stringMatching(/^FAILED {2}The process of crash ended \(SIGKILL\) in crash/),
    'NOT RUN\n  crash.test.ts',
  ])
  expect(end).toMatchObject({ kind: 'complete', outcome: { leftovers: [] } })
  expect(readdirSync(folder)).toEqual([])
})

test('a file that passes alone is reported with its first failure and what its processes printed', async () => {
  const { problems } = await runOf('unsteady', 'good')
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(/^UNSTEADY .*unsteady\.test\.ts\n\nexpected 1, received 2/)
  expect(problems[0]).toContain('— printed during "it works":\nthe reason of the child')
  expect(problems[0]).toMatch(/load .* cores, .* memory free/)
})

test('a process that stays after a failed file is ended; the report has what RabbitMQ logged meanwhile', async () => {
  const end = await runOf('stays')
  expect(end.problems.map((problem) => problem.split(' ', 1)[0])).toEqual(['UNSTEADY', 'LEFT'])
  expect(JSON.stringify(end)).toContain('no leader')
  expect(JSON.stringify(end)).not.toContain('early')
})

test('a process that stays after its tests have passed is a failure', async () => {
  const { problems } = await runOf('stays-passed')
  expect(problems).toEqual([
    expect.stringMatching(
      /^FAILED {2}The process of stays-passed ended \(SIGKILL\) after its tests\.\nJest did not exit/,
    ),
  ])
})

test('a run ends although an unknown process keeps the output of its tests', async () => {
  const { problems } = await runOf('holds-output')
  expect(problems).toEqual(['LEFT BEHIND  holds-output: a process with the output of its tests'])
})

test('servers that cannot be started end the run at once', async () => {
  const cause = 'no Redis; install redis-server'
  expect(await runOf('servers', 'unavailable')).toEqual({ kind: 'impossible', cause, left: [] })
  expect(readdirSync(folder)).toEqual([])
})

test('a temporary folder that does not exist ends the run at once', async () => {
  const end = await endOf(['env', `TMPDIR=${join(folder, 'none')}`, ...node, 'good'])
  expect(end).toMatchObject({ kind: 'impossible', cause: expect.stringContaining('TMPDIR') })
})

test('the tests run after the build', async () => {
  const end = await endOf([...withBuild('echo built > "$TMPDIR/../result"', 'good'), 'built'])
  expect(end).toMatchObject({ kind: 'complete', problems: [] })
})

test('a build that fails ends the run with all that it printed', async () => {
  const output = 'error TS2322\n'.repeat(200).trim()
  const script = `printf '${output.replaceAll('\n', '\\n')}' >&2; exit 2`
  const cause = `sh -c ${script} failed.`
  expect(await endOf([...withBuild(script), 'good'])).toEqual({ kind: 'impossible', cause, output, left: [] })
})

test('a failure of the first part ends the run and the build at once', async () => {
  const build = 'echo "$$" > "$TMPDIR/../../pid"; exec sleep 600'
  const end = await endOf([...withBuild(build, 'unsteady'), 'good'])
  expect(end).toEqual({ kind: 'impossible', cause: 'expected 1, received 2', left: [] })
  expect(readdirSync(folder)).toEqual(['pid'])
  expect(isRunning(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false)
})
