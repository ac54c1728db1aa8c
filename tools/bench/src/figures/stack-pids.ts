import { setTimeout as sleep } from 'node:timers/promises'
import type { StackFile } from '@switchhook/local'

/** Pids of a stack's processes by part. A part that is not ours to see (a broker elsewhere) has none. */
export function pidsOf(
  { processes }: StackFile,
  parts: Readonly<Record<string, RegExp>>,
): Readonly<Record<string, readonly number[]>> {
  const running = Object.entries(processes)
  const matching = (part: RegExp): number[] => running.flatMap(([name, { pid }]) => (part.test(name) ? [pid] : []))
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, matching(part)]))
}

/** Ends a process with SIGTERM; resolves once it is gone. */
export async function endProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM')
  while (isAlive(pid)) await sleep(20)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
