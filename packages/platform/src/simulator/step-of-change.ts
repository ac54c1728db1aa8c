import type { LegReport } from '../platform.ts'
import type { StorageChange } from '../storage.ts'
import { type CallGroup, reportsOfLastStep } from './call-group.ts'
import type { StepTimer } from './step-runner.ts'

/** The part of a change that an api needs to record the reports in the same write. */
export interface ChangedStep {
  /** The same objects that the listener gets after the write. */
  readonly reports: readonly LegReport[]
  /** Without the timer that repeats the reports: it is needed only if they are recorded after the write. */
  readonly timers: StorageChange['timers']
}

/** Undefined for a change without reports. */
export function stepOf({ records, timers }: StorageChange): ChangedStep | undefined {
  const group = records.map(({ value }) => value).find(isCallGroup)
  const reports = group === undefined ? [] : reportsOfLastStep(group)
  if (reports.length === 0) return undefined
  return { reports, timers: timers.filter(({ payload }) => (payload as Partial<StepTimer>).cue?.kind !== 'tell') }
}

const isCallGroup = (value: unknown): value is CallGroup =>
  typeof value === 'object' && value !== null && 'legs' in value
