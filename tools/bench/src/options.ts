import { type Config, duration, integer } from '@switchhook/runtime'

/** Environment variables that change single figures. */
export const benchFields = {
  /** Length of one run of `deliveries` on every side. */
  DELIVERIES_TIME: duration('20s', { minMs: 1_000 }),
  /** Length of one run of `commands` on every side. */
  COMMANDS_TIME: duration('10s', { minMs: 1_000 }),
  /** How long the broker is unavailable in `outage`. */
  OUTAGE: duration('60s', { minMs: 1_000 }),
  /** Deliveries for a dead endpoint in `backlog`. */
  BACKLOG: integer({ min: 1_000, max: 1_000_000 }, 20_000),
  /** Events that one tenant publishes at once in `fairness`. */
  BURST: integer({ min: 1_000, max: 1_000_000 }, 100_000),
  /** How long `fairness` observes the other tenants during a burst. */
  BURST_TIME: duration('60s', { minMs: 5_000 }),
  /** How long `memory` observes misbehaving endpoints. */
  MEMORY_TIME: duration('40s', { minMs: 10_000 }),
}

export type BenchOptions = Config<typeof benchFields>
