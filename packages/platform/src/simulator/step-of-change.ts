import type { LegReport } from '../platform.ts'
import type { MemoryChange } from './memory.ts'
import { latestReports, type Session } from './session.ts'
import type { SessionTimer } from './sessions.ts'

/** The part of a change that an api needs to record the reports in the same write. */
export interface ChangedStep {
  /** The same objects that the listener gets after the write. */
  readonly reports: readonly LegReport[]
  /** Without the timer that repeats the reports: it is needed only if they are recorded after the write. */
  readonly timers: MemoryChange['timers']
}

/** Undefined for a change without reports. */
export function stepOf({ records, timers }: MemoryChange): ChangedStep | undefined {
  const session = records.map(({ value }) => value).find(isSession)
  const reports = session === undefined ? [] : latestReports(session)
  if (reports.length === 0) return undefined
  return { reports, timers: timers.filter(({ payload }) => (payload as Partial<SessionTimer>).cue?.kind !== 'tell') }
}

const isSession = (value: unknown): value is Session => typeof value === 'object' && value !== null && 'legs' in value
