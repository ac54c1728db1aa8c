import type { StackFile, StackOptions } from '@switchhook/local'
import { type Config, duration, type Field, FieldError, integer } from '@switchhook/runtime'

/** What every figure needs to measure a running stack. */
export interface Bench {
  readonly stack: StackFile
  /** A new access token of acme or a further tenant of the identity provider (`tenant-1`, …). */
  readonly tokenOf: (tenant?: string) => Promise<string>
  readonly say: (line: string) => void
  readonly options: Config<typeof benchFields>
  /**
   * Starts the parts of the stack that are not running, with additional settings and other numbers of replicas; resolves
   * when all parts are ready.
   */
  readonly bringUp: (more?: Setting, replicas?: Partial<StackOptions['replicas']>) => Promise<StackFile>
  /** Has something closed after the figure or its part: what was opened last is closed first. */
  readonly defer: (close: () => unknown) => void
}

/** Lets a figure, or a part of it, open things that are closed after it, also if it fails. */
export async function closing<T>(bench: Omit<Bench, 'defer'>, use: (bench: Bench) => Promise<T>): Promise<T> {
  await using closers = new AsyncDisposableStack()
  return await use({ ...bench, defer: (close) => closers.defer(async () => void (await close())) })
}

/** Deadline and cool-down for figures with hanging endpoints: shorter than the defaults, to keep the runs short. */
export const DEADLINE_MS = 5_000
export const COOLDOWN_MS = 10_000

/** Environment variables of the services. Figures with the same settings share a stack. */
export type Setting = Readonly<Record<string, string>>

/** `10,1000`: numbers, separated by commas. */
const integers = (range: { min: number; max: number }, fallback: string): Field<readonly number[]> => ({
  fallback,
  parse: (raw) => {
    const numbers = raw.split(',').map((part) => Number(part.trim()))
    if (numbers.every((one) => Number.isInteger(one) && one >= range.min && one <= range.max)) return numbers
    throw new FieldError(`must be whole numbers from ${range.min} to ${range.max}, separated by commas`)
  },
})

/** Environment variables that change single figures. */
export const benchFields = {
  /**
   * Length of one run on every side: of `deliveries`, `commands`, `latency`, `moderate`, `listeners` and each point of `cost`,
   * `sweep` and `harm`.
   */
  RUN_TIME: duration('20s', { minMs: 1_000 }),
  /** How long the broker is unavailable in `outage`. */
  OUTAGE: duration('60s', { minMs: 1_000 }),
  /** Events of the burst in `fairness`. */
  BURST: integer({ min: 1_000, max: 1_000_000 }, 100_000),
  /** How long `fairness` observes the other tenants during a burst. */
  BURST_TIME: duration('60s', { minMs: 5_000 }),
  /** Held deliveries in `pull`. */
  HELD: integer({ min: 1_000, max: 100_000 }, 100_000),
  /** How long `memory` observes misbehaving endpoints. */
  MEMORY_TIME: duration('40s', { minMs: 10_000 }),
  /** Endpoints that answer now and then, in `sweep`. */
  SWEEP_ENDPOINTS: integers({ min: 1, max: 1_000 }, '20,150'),
  /** The points of the curves in `cost`. */
  COST_SUBSCRIPTIONS: integers({ min: 1, max: 1_000_000 }, '10,1000,100000'),
  COST_WAITING: integers({ min: 0, max: 10_000_000 }, '0,100000,1000000'),
  COST_WORKERS: integers({ min: 1, max: 20 }, '1,2,4'),
}
