import type { StackFile } from '@switchhook/local'
import { cpuMs, machineTicks } from './process-usage.ts'
import { mapValues, round, sum } from './statistics.ts'

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

/** Processor time of a delivery by part, in microseconds. */
export type CostUs = Readonly<Record<string, number>>

/** Measures processor time. @param parts the processes of each part */
export function createMeter<Part extends string>(parts: Readonly<Record<Part, readonly number[]>>) {
  let spentMs = mapValues(parts, () => 0)
  const machine = { idle: 0, all: 0 }
  const read = () => mapValues(parts, (pids) => sum(pids.map(cpuMs)))
  return {
    /** Measures every part during `work`. */
    async during<T>(work: () => Promise<T>): Promise<T> {
      const [before, ticksBefore] = [read(), machineTicks()]
      const result = await work()
      const ticks = machineTicks()
      machine.idle += ticks.idle - ticksBefore.idle
      machine.all += ticks.all - ticksBefore.all
      spentMs = mapValues(read(), (ms, part) => spentMs[part] + ms - before[part])
      return result
    },
    /** Idle part of the machine's processor time during all work, 0 to 1; null where the system does not tell. */
    idle: (): number | null => (machine.all === 0 ? null : round(machine.idle / machine.all, 2)),
    /** The measured time divided by the number of deliveries. */
    costUs: (deliveries: number): CostUs => mapValues(spentMs, (ms) => round((ms * 1_000) / deliveries, 0)),
  }
}
