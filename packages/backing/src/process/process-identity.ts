import { readFileSync } from 'node:fs'
import { runCommand } from './run-command.ts'

/**
 * What tells a process from every other one that ever had or will have its pid; undefined when there is no such process
 * or it has ended.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  return process.platform === 'linux' ? linuxIdentity(pid) : psIdentity(pid)
}

/** The boot and the ticks since then (proc(5)), which do not move when somebody sets the clock. */
function linuxIdentity(pid: number): string | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field is the name in brackets and may hold anything; the state is the first one after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // In a container without an init nobody collects the ended ones: they stay as zombies that signals still reach.
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
