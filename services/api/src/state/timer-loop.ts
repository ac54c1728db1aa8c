import { type Logger, type Poll, startPoll } from '@switchhook/runtime'
import type { DueTimer, StateChange, StateStore, TimerStore } from '@switchhook/store'

/**
 * One handler per owner; the owner is the part of a timer's id before its first colon. If a handler rejects, the timer
 * is handled again when its lease expires.
 */
export type TimerOwners = Readonly<Record<string, (timer: Pick<DueTimer, 'tenant' | 'payload'>) => Promise<void>>>

/** When a replica dies, another one handles its claimed timers after this time. */
const LEASE_MS = 5_000
/** Redis serves nothing else during a claim: about 0.1 ms for so many timers. */
const MAX_AT_ONCE = 50
/** Polling finds the timers of replicas that died. A timer that this process sets wakes the loop without it. */
const POLL_MS = 500
/** Timers further away than this are left to polling. */
const MAX_EXPECTED_MS = 60_000
/** Redis's clock decides which timers are due; the clock of this process may run slightly ahead. */
const CLOCK_SLACK_MS = 5

/** Handles durable timers until it is stopped. Any number of replicas can run it at the same time. */
export function createTimerLoop(timers: Pick<TimerStore, 'claimDue' | 'done'>, log: Pick<Logger, 'warn'>) {
  let poll: Poll | undefined

  async function handle(timer: DueTimer, owners: TimerOwners): Promise<void> {
    const owner = timer.id.slice(0, timer.id.indexOf(':'))
    try {
      await owners[owner]?.(timer)
      await timers.done([timer])
    } catch (error) {
      log.warn('a timer could not be handled; it will be retried', { timer: timer.id, error })
    }
  }

  return {
    start: (owners: TimerOwners): void => {
      const work = async (): Promise<number | undefined> => {
        const due = await timers.claimDue(MAX_AT_ONCE, LEASE_MS)
        await Promise.all(due.map((timer) => handle(timer, owners)))
        return due.length > 0 ? 0 : undefined
      }
      poll = startPoll(POLL_MS, work, (error) => log.warn('timers cannot be read; retrying', { error }))
      poll.wake()
    },
    /** Announces that this process has set a timer that falls due in `dueInMs`. */
    expect: (dueInMs: number): void => {
      if (dueInMs > MAX_EXPECTED_MS) return
      // oxlint-disable-next-line no-restricted-globals -- an alarm: no answer is awaited
      setTimeout(() => poll?.wake(), dueInMs + CLOCK_SLACK_MS).unref()
    },
    /** Resolves once the handlers in progress have finished. */
    stop: async (): Promise<void> => poll?.stop(),
  }
}

/** The same store, which tells `announced` about the timers of each commit: the timer loop wakes for them. */
export const announceTimers = (store: StateStore, announced: (timers: StateChange['timers']) => void): StateStore => ({
  ...store,
  async commit(tenant, change) {
    const result = await store.commit(tenant, change)
    if (result === 'committed') announced(change.timers)
    return result
  },
})
