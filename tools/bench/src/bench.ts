import type { StackFile, StackOptions } from '@switchhook/local'
import type { BenchOptions } from './options.ts'

/** What every figure needs to measure a running stack. */
export interface Bench {
  readonly stack: StackFile
  /** Access token of the tenant acme. */
  readonly token: string
  /** Access token of a further tenant of the identity provider (`tenant-1`, …). */
  readonly tokenOf: (tenant: string) => Promise<string>
  readonly say: (line: string) => void
  readonly options: BenchOptions
  /**
   * Starts the parts of the stack that are not running, with additional settings and other numbers of replicas; resolves
   * when all parts are ready.
   */
  readonly bringUp: (more?: Setting, replicas?: Partial<StackOptions['replicas']>) => Promise<StackFile>
}

/** Deadline and cool-down for figures with hanging endpoints: shorter than the defaults, to keep the runs short. */
export const DEADLINE_MS = 5_000
export const COOLDOWN_MS = 10_000

/** Environment variables of the services. Figures with the same settings share a stack. */
export type Setting = Readonly<Record<string, string>>
