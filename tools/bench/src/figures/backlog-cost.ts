import { round } from '../measure/statistics.ts'

/** CPU time of each part, where its process is known. */
export type CpuMs = Readonly<Record<'workers' | 'fanout' | 'broker' | 'redis', number | null>>

/** A time under a healthy load, and what it took. */
export interface Phase {
  readonly ms: number
  /** Events of the healthy load. */
  readonly events: number
  readonly cpuMs: CpuMs
  readonly published: number
  readonly delivered: number
}

/** Per delivery that was put off. */
export interface BacklogCost {
  readonly cpuMs: CpuMs
  /** Messages that the broker took from publishers, and handed to consumers. */
  readonly published: number
  readonly delivered: number
}

/** What the phase with a backlog took above the phase without: by the time for the CPU, by the events for the messages. */
export function costOf(alone: Phase, beside: Phase, backlog: number): BacklogCost {
  const above = (first: number, second: number, scale: number): number => round((second - first * scale) / backlog, 3)
  const cpu = (part: keyof CpuMs): number | null => {
    const [first, second] = [alone.cpuMs[part], beside.cpuMs[part]]
    return first === null || second === null ? null : above(first, second, beside.ms / alone.ms)
  }
  const perEvent = beside.events / alone.events
  return {
    cpuMs: { workers: cpu('workers'), fanout: cpu('fanout'), broker: cpu('broker'), redis: cpu('redis') },
    published: above(alone.published, beside.published, perEvent),
    delivered: above(alone.delivered, beside.delivered, perEvent),
  }
}
