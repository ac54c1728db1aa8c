import type { Metrics } from '@switchhook/runtime'
import type { RecoveryChange } from './recovery.ts'

export type RecoveryMeter = ReturnType<typeof createRecoveryMeter>

const OUTCOMES = ['sent', 'skipped', 'failed'] as const

/** Counts the deliveries and ends of recoveries, at the replica that stored them. */
export function createRecoveryMeter(metrics: Metrics) {
  const deliveries = metrics.counter(
    'switchhook_recovery_deliveries_total',
    'Parked deliveries that recoveries have processed, by outcome.',
  )
  const byOutcome = OUTCOMES.map((outcome) => [outcome, deliveries.of({ outcome })] as const)
  const recoveries = metrics.counter('switchhook_recoveries_total', 'Recoveries that have ended, by kind of end.')
  const [done, cancelled] = [recoveries.of({ end: 'done' }), recoveries.of({ end: 'cancelled' })]
  return {
    /** Called after every stored change. */
    changed: ({ before, after }: RecoveryChange): void => {
      for (const [outcome, counter] of byOutcome) counter.add(after[outcome] - before[outcome])
      // A cancelled recovery changes once more when its batch is released, and must not count twice.
      if (before.state !== 'running' || after.state === 'running') return
      ;(after.state === 'done' ? done : cancelled).add()
    },
  }
}
