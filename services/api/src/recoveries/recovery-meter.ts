import type { Metrics } from '@switchhook/runtime'
import type { Recovery } from './recovery.ts'

export interface RecoveryMeter {
  /** Told of each step that was stored: how the recovery stood before it, and after. */
  readonly noted: (before: Recovery, after: Recovery) => void
}

const OUTCOMES = ['sent', 'skipped', 'failed'] as const

/** Counts what recoveries came to, by whichever replica wrote it down. */
export function createRecoveryMeter(metrics: Metrics): RecoveryMeter {
  const deliveries = metrics.counter(
    'switchhook_recovery_deliveries_total',
    'Parked deliveries that recoveries have gone through, by what was done with them.',
  )
  const byOutcome = OUTCOMES.map((outcome) => [outcome, deliveries.of({ outcome })] as const)
  const recoveries = metrics.counter('switchhook_recoveries_total', 'Recoveries that have ended, by how.')
  const [done, cancelled] = [recoveries.of({ end: 'done' }), recoveries.of({ end: 'cancelled' })]
  return {
    noted: (before, after) => {
      for (const [outcome, counter] of byOutcome) counter.add(after[outcome] - before[outcome])
      // A cancelled one is written once more when what was in hand is put down.
      if (before.state !== 'running' || after.state === 'running') return
      ;(after.state === 'done' ? done : cancelled).add()
    },
  }
}
