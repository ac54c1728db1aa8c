import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Home, openHome } from '../home.ts'
import { DaemonFailed, type DaemonSpec, startDaemon, stopDaemon } from './daemon.ts'
import { runningPid } from './pid-file.ts'
import { waitUntil } from './wait-until.ts'

let home: Home

beforeEach(() => {
  home = openHome(mkdtempSync(join(tmpdir(), 'daemon-')))
})

afterEach(async () => {
  await stopDaemon(home, 'worker', 0)
  rmSync(home.path, { recursive: true })
})

/** A process that runs a piece of JavaScript, ready once that has said so in a file. */
function daemon(script: string, more: Partial<DaemonSpec> = {}): DaemonSpec {
  const marker = join(home.path, 'ready')
  return {
    name: 'worker',
    command: process.execPath,
    args: ['-e', `const ready = () => require('fs').writeFileSync(${JSON.stringify(marker)}, ''); ${script}`],
    env: process.env,
    isReady: async () => existsSync(marker),
    readyWithinMs: 10_000,
    ...more,
  }
}

const FOREVER = 'setInterval(() => {}, 1000);'

test('the pid file names the process while it runs', async () => {
  await startDaemon(home, daemon(`${FOREVER} ready()`))
  const pid = await runningPid(home, 'worker')
  expect(pid).toBe(Number(readFileSync(home.pidFile('worker'), 'utf8')))
  await expect(stopDaemon(home, 'worker')).resolves.toBe('stopped')
  await expect(runningPid(home, 'worker')).resolves.toBeUndefined()
  expect(existsSync(home.pidFile('worker'))).toBe(false)
})

test('a killed process is not reported as running', async () => {
  await startDaemon(home, daemon(`${FOREVER} ready()`))
  process.kill((await runningPid(home, 'worker')) ?? 0, 'SIGKILL')
  await waitUntil(async () => (await runningPid(home, 'worker')) === undefined, 5_000)
  await expect(stopDaemon(home, 'worker')).resolves.toBe('not running')
})

test('a process that ignores SIGTERM is killed after the grace period', async () => {
  await startDaemon(home, daemon(`process.on('SIGTERM', () => {}); ${FOREVER} ready()`))
  await expect(stopDaemon(home, 'worker', 200)).resolves.toBe('killed')
})

test('a reused pid of another process is neither reported nor killed', async () => {
  await startDaemon(home, daemon(`${FOREVER} ready()`))
  const ours = await runningPid(home, 'worker')
  const stranger = spawn(process.execPath, ['-e', FOREVER], { stdio: 'ignore' })
  await once(stranger, 'spawn')
  writeFileSync(home.pidFile('worker'), `${stranger.pid}\n`)

  await expect(stopDaemon(home, 'worker')).resolves.toBe('not running')
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  stranger.kill()
  await once(stranger, 'exit')
  process.kill(ours ?? 0)
})

test('the error for an early exit shows the end of the log, without earlier runs', async () => {
  writeFileSync(home.logFile('worker'), 'from long ago\n')
  const failure = startDaemon(home, daemon(`console.error('port is taken'); process.exit(3)`))
  await expect(failure).rejects.toThrow(DaemonFailed)
  await expect(failure).rejects.toThrow(/exit code 3[^]*port is taken$/)
  await expect(failure).rejects.not.toThrow(/from long ago/)
  expect(existsSync(home.pidFile('worker'))).toBe(false)
})

test.each([
  ['does not become ready', {}],
  ['does not answer the question whether it is ready', { isReady: () => new Promise<boolean>(() => {}) }],
])('a process that %s is stopped', async (_name, more) => {
  const failure = startDaemon(home, daemon(FOREVER, { readyWithinMs: 300, ...more }))
  await expect(failure).rejects.toThrow('not ready within 0.3 s')
  await expect(runningPid(home, 'worker')).resolves.toBeUndefined()
})

test('a missing program fails like any other', async () => {
  await expect(startDaemon(home, daemon('', { command: '/no/such/program' }))).rejects.toThrow('ENOENT')
})
