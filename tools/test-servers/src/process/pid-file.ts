import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Home } from '../home.ts'
import { runCommand } from './run-command.ts'

/** Records a process of this home by name. Writes nothing if it has already ended. */
export async function writePidFile(home: Home, name: string, pid: number): Promise<void> {
  const identity = await processIdentity(pid)
  if (identity === undefined) return
  writeFileSync(home.identityFile(name), `${identity}\n`)
  writeFileSync(home.pidFile(name), `${pid}\n`)
}

/** The pid of the named process if it is running. The identity tells it from a later process with the same pid. */
export async function runningPid(home: Home, name: string): Promise<number | undefined> {
  let pid: number
  let identity: string
  try {
    pid = Number(readFileSync(home.pidFile(name), 'utf8'))
    identity = readFileSync(home.identityFile(name), 'utf8').trim()
  } catch {
    return undefined
  }
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  return (await processIdentity(pid)) === identity ? pid : undefined
}

export function removePidFile(home: Home, name: string): void {
  rmSync(home.pidFile(name), { force: true })
  rmSync(home.identityFile(name), { force: true })
}

/** Distinguishes a process from every other one with the same pid. Undefined if no such process is running. */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid)
}

/** The boot id and the start time in clock ticks since boot (proc(5)), which setting the clock does not change. */
function linuxIdentity(pid: number): string | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field is the name in parentheses and may contain any character; the state follows it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // In a container without an init process, ended processes remain as zombies, which still accept signals.
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19]}`
}

async function psIdentity(pid: number): Promise<string | undefined> {
  const { ok, stdout } = await runCommand('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    env: { ...process.env, LC_ALL: 'C' },
  })
  const [, state = 'Z', start = ''] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? []
  return ok && !state.startsWith('Z') ? start : undefined
}
