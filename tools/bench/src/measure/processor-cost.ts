import { cpuMs } from './process-usage.ts'
import { round } from './statistics.ts'

/** Processor time for each delivery, by part, in microseconds. */
export type CostUs = Readonly<Record<string, number>>

export interface Meter {
  /** Counts the processor time that every part takes meanwhile. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** What it came to, for so many deliveries in all. */
  costUs(deliveries: number): CostUs
}

/** @param parts the processes of each part */
export function createMeter(parts: Readonly<Record<string, readonly number[]>>): Meter {
  const spentMs = new Map<string, number>()
  const read = (): Map<string, number> =>
    new Map(Object.entries(parts).map(([part, pids]) => [part, pids.reduce((sum, pid) => sum + cpuMs(pid), 0)]))
  return {
    async during(work) {
      const before = read()
      const result = await work()
      for (const [part, ms] of read()) {
        spentMs.set(part, (spentMs.get(part) ?? 0) + ms - (before.get(part) ?? 0))
      }
      return result
    },
    costUs: (deliveries) =>
      Object.fromEntries([...spentMs].map(([part, ms]) => [part, round((ms * 1_000) / deliveries, 0)])),
  }
}
