import type { Metrics } from '@switchhook/runtime'
import type { TimerOwners } from './timer-loop.ts'

/** The same owners, and a count of the timers that each has dealt with. One that fails is tried again, and counts again. */
export function countTimers(metrics: Metrics, owners: TimerOwners): TimerOwners {
  const fired = metrics.counter('switchhook_timers_fired_total', 'Timers handled, by whose they are and how it went.')
  const counted = Object.entries(owners).map(([owner, handle]) => {
    const [done, failed] = [fired.of({ owner, result: 'done' }), fired.of({ owner, result: 'failed' })]
    const counting: typeof handle = async (timer) => {
      try {
        await handle(timer)
        done.add()
      } catch (error) {
        failed.add()
        throw error
      }
    }
    return [owner, counting] as const
  })
  return Object.fromEntries(counted)
}
