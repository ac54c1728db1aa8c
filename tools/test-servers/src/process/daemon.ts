import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import type { Home } from '../home.ts'
import { removePidFile, runningPid, writePidFile } from './pid-file.ts'
import { waitUntil } from './wait-until.ts'

export interface DaemonSpec {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd?: string
  /** Polled until it returns true. */
  readonly isReady: () => Promise<boolean>
  readonly readyWithinMs: number
}

/** A process did not start. The message ends with the last lines of its log. */
export class DaemonFailed extends Error {
  override readonly name = 'DaemonFailed'
}

/**
 * Starts a process that outlives this one, with a pid file and a log file in the home, and waits until it is ready.
 * @throws DaemonFailed if it exits first or takes too long, after it was stopped
 */
export async function startDaemon(home: Home, spec: DaemonSpec): Promise<void> {
  const log = openSync(home.logFile(spec.name), 'a')
  const startsAt = statSync(home.logFile(spec.name)).size
  // Detached, so that Ctrl-C in the terminal ends this process but not the daemon.
  const child = spawn(spec.command, spec.args, {
    detached: true,
    env: spec.env,
    stdio: ['ignore', log, log],
    ...(spec.cwd !== undefined && { cwd: spec.cwd }),
  })
  closeSync(log)
  let ended: string | undefined
  child.once('error', (error) => (ended = error.message))
  child.once('exit', (code, signal) => (ended ??= signal === null ? `exit code ${code}` : signal))
  child.unref()
  if (child.pid !== undefined) await writePidFile(home, spec.name, child.pid)

  const ready = await waitUntil(async () => ended !== undefined || (await spec.isReady()), spec.readyWithinMs)
  if (ready && ended === undefined) return
  const what = ended === undefined ? `was not ready within ${spec.readyWithinMs / 1_000} s` : `exited early (${ended})`
  await stopDaemon(home, spec.name)
  throw new DaemonFailed(
    `${spec.name} ${what}. The end of ${home.logFile(spec.name)}:\n${logTail(home, spec.name, startsAt)}`,
  )
}

/** Sends SIGTERM, after `graceMs` SIGKILL, and removes the pid file. Returns how the process ended. */
export async function stopDaemon(
  home: Home,
  name: string,
  graceMs = 40_000,
): Promise<'stopped' | 'killed' | 'not running'> {
  const pid = await runningPid(home, name)
  let how: 'stopped' | 'killed' | 'not running' = 'not running'
  if (pid !== undefined) {
    const isGone = async (): Promise<boolean> => (await runningPid(home, name)) !== pid
    signal(pid, 'SIGTERM')
    how = (await waitUntil(isGone, graceMs)) ? 'stopped' : 'killed'
    if (how === 'killed') {
      signal(pid, 'SIGKILL')
      await waitUntil(isGone, 5_000)
    }
  }
  removePidFile(home, name)
  return how
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function logTail(home: Home, name: string, from: number, lines = 20): string {
  const text = readFileSync(home.logFile(name)).subarray(from).toString('utf8').trimEnd()
  return text === '' ? '(nothing)' : text.split('\n').slice(-lines).join('\n')
}
