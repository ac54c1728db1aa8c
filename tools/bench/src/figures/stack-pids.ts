import type { StackFile } from '@switchhook/local'

/** The parts of a stack, and how the names of their processes begin. */
const PREFIXES = {
  workers: 'delivery-worker',
  fanout: 'fanout',
  api: 'api',
  rabbitmq: 'rabbitmq',
  redis: 'redis',
} as const

/** Pids of a stack's processes by part. A part that is not ours to see (a broker elsewhere) has none. */
export const pidsOf = <Part extends keyof typeof PREFIXES>(
  { processes }: StackFile,
  ...parts: readonly Part[]
): Readonly<Record<Part, readonly number[]>> => {
  const pids = (part: Part): number[] =>
    Object.entries(processes).flatMap(([name, { pid }]) => (name.startsWith(PREFIXES[part]) ? [pid] : []))
  return Object.fromEntries(parts.map((part) => [part, pids(part)])) as Record<Part, number[]>
}
