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
