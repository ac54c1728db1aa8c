import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { runCommand } from '../process/run-command.ts'

export interface MarkedProcess {
  readonly pid: number
  readonly command: string
}

interface Seen extends MarkedProcess {
  readonly parent: number
  readonly isMarked: boolean
}

/**
 * The running processes that have the mark in their environment, arguments or working directory, and their children, which
 * may have replaced all three. Not this process.
 */
export async function markedProcesses(mark: string): Promise<readonly MarkedProcess[]> {
  const hasMark: HasMark = (text) => text.split(mark).some((rest, at) => at > 0 && !/^[\w-]/.test(rest))
  const seen = process.platform === 'linux' ? ofLinux(hasMark) : await ofPs(hasMark)
  const marked = new Set(seen.filter(({ isMarked }) => isMarked).map(({ pid }) => pid))
  marked.delete(process.pid)
  for (let size = -1; size < marked.size; ) {
    size = marked.size
    for (const { pid, parent } of seen) if (marked.has(parent)) marked.add(pid)
  }
  return seen.filter(({ pid }) => marked.has(pid) && pid !== process.pid)
}

/** `sh-run-1/it-1` is not in `sh-run-1/it-10`. */
type HasMark = (text: string) => boolean

function ofLinux(hasMark: HasMark): Seen[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    // The second field of proc_pid_stat(5) is the name in parentheses and may contain any character.
    const stat = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
    const [state = 'X', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return []
    const command = read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
      .replaceAll('\0', ' ')
      .trim()
    const isMarked =
      hasMark(command) ||
      hasMark(read(() => readFileSync(`/proc/${pid}/environ`, 'latin1'))) ||
      hasMark(read(() => readlinkSync(`/proc/${pid}/cwd`)))
    return [{ pid: Number(pid), parent: Number(parent), command, isMarked }]
  })
}

/** Empty for a process that has ended, and for what belongs to another user. */
function read(file: () => string): string {
  try {
    return file()
  } catch {
    return ''
  }
}

/** `ps` of macOS; it shows the environment behind the arguments, and no working directory. */
async function ofPs(hasMark: HasMark): Promise<Seen[]> {
  const { stdout } = await runCommand('ps', ['-axEww', '-o', 'pid=,ppid=,stat=,command='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, stat = 'Z', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (stat.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), command, isMarked: hasMark(command) }]
  })
}
