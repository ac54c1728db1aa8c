import { type Config, duration, integer } from '@switchhook/runtime'

/** What may be asked of single figures, by the environment. */
export const benchFields = {
  /** How long the broker is away. */
  OUTAGE: duration('60s', { minMs: 1_000 }),
  /** Deliveries that wait for a dead endpoint. */
  BACKLOG: integer({ min: 1_000, max: 1_000_000 }, 20_000),
  /** How long memory is watched while endpoints misbehave. */
  MEMORY_TIME: duration('40s', { minMs: 10_000 }),
}

export type BenchOptions = Config<typeof benchFields>
