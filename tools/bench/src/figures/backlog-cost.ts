import { round } from '../measure/statistics.ts'

/** CPU time by part; null where the process is not known. */
export type CpuMs = Readonly<Record<'workers' | 'fanout' | 'broker' | 'redis', number | null>>

/** A phase under the healthy load, and its cost. */
export interface Phase {
  readonly ms: number
  /** Events of the healthy load. */
  readonly events: number
  readonly cpuMs: CpuMs
  readonly published: number
  readonly delivered: number
}

/** Cost per postponed delivery. */
export interface BacklogCost {
  readonly cpuMs: CpuMs
  /** Messages that the broker received from publishers and sent to consumers. */
  readonly published: number
  readonly delivered: number
}

/** Additional cost of the phase with a backlog: CPU in proportion to time, messages in proportion to events. */
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
