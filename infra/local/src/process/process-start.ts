import { readFileSync } from 'node:fs'
import { runCommand } from './run-command.ts'

/** Linux counts process times in these, whatever the kernel's own tick is (USER_HZ, see proc(5)). */
const TICKS_PER_SECOND = 100

/** When the process started, in ms since 1970, to the second; undefined when there is no such process or it has ended. */
export async function processStart(pid: number): Promise<number | undefined> {
  return process.platform === 'linux' ? linuxProcessStart(pid) : psProcessStart(pid)
}

function linuxProcessStart(pid: number): number | undefined {
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
  const bootedAt = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]
  return (Number(bootedAt) + Number(fields[19]) / TICKS_PER_SECOND) * 1_000
}

async function psProcessStart(pid: number): Promise<number | undefined> {
  const { ok, stdout } = await runCommand('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    env: { ...process.env, LC_ALL: 'C' },
  })
  const [, state = '', start = ''] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? []
  return ok && !state.startsWith('Z') ? Date.parse(start) : undefined
}
