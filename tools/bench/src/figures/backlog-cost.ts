import type { CostUs } from '../measure/processor-cost.ts'
import { round } from '../measure/statistics.ts'

/** A phase under the healthy load, and its cost. */
export interface Phase {
  readonly ms: number
  /** Events of the healthy load. */
  readonly events: number
  /** Processor time by part. */
  readonly cpuUs: CostUs
  readonly published: number
  readonly delivered: number
}

/** Cost per postponed delivery. */
export interface BacklogCost {
  /** Processor time by part. */
  readonly cpuMs: Readonly<Record<string, number>>
  /** Messages that the broker received from publishers and sent to consumers. */
  readonly published: number
  readonly delivered: number
}

/** Additional cost of the phase with a backlog: CPU in proportion to time, messages in proportion to events. */
export function costOf(alone: Phase, beside: Phase, backlog: number): BacklogCost {
  const above = (first: number, second: number, scale: number): number => round((second - first * scale) / backlog, 3)
  const perMs = beside.ms / alone.ms
  const perEvent = beside.events / alone.events
  const cpu = Object.entries(beside.cpuUs).map(([part, us]) => [
    part,
    above((alone.cpuUs[part] ?? 0) / 1e3, us / 1e3, perMs),
  ])
  return {
    cpuMs: Object.fromEntries(cpu),
    published: above(alone.published, beside.published, perEvent),
    delivered: above(alone.delivered, beside.delivered, perEvent),
  }
}
