import { answerWithin, createKeyedQueue, type Logger, type Poll, startPoll } from '@switchhook/runtime'
import type { DueTimer, StateChange, StateStore, TimerStore } from '@switchhook/store'

/**
 * One handler per owner; the owner is the part of a timer's id before its first colon. If a handler rejects, the timer
 * is handled again when its lease expires.
 */
export type TimerOwners = Readonly<Record<string, (timer: Pick<DueTimer, 'tenant' | 'payload'>) => Promise<void>>>

/** When a replica dies, another one handles its claimed timers after this time. */
const LEASE_MS = 5_000
/** The lease of a timer that is still being handled is extended after this time. */
const EXTEND_AFTER_MS = 2_000
/** Redis serves nothing else during a claim: about 0.1 ms for so many timers. */
const MAX_AT_ONCE = 50
/** Further timers are claimed after this time, although the handlers of the last ones, such as a PBX that hangs, have not ended. */
const WAIT_MS = 100
/** Further timers of an owner that hangs are left until their leases end. */
const MAX_IN_PROGRESS_PER_OWNER = 200
/** Polling finds the timers of replicas that died. A timer that this process sets wakes the loop without it. */
const POLL_MS = 500
/** Timers further away than this are left to polling. */
const MAX_EXPECTED_MS = 60_000
/** Redis's clock decides which timers are due; the clock of this process may run slightly ahead. */
const CLOCK_SLACK_MS = 5

interface InProgress {
  readonly timer: DueTimer
  readonly owner: string
  /** At or before the start of the lease. Of the monotonic clock. */
  leasedAtMs: number
}

/** Handles durable timers until it is stopped. Any number of replicas can run it at the same time. */
export function createTimerLoop(timers: Pick<TimerStore, 'claimDue' | 'extend' | 'done'>, log: Pick<Logger, 'warn'>) {
  let poll: Poll | undefined
  /** Runs the timers of one id in order. */
  const queue = createKeyedQueue()
  /** By the stored text of the timer. */
  const inProgress = new Map<string, InProgress>()

  async function handle({ timer, owner }: InProgress, owners: TimerOwners): Promise<void> {
    try {
      await owners[owner]?.(timer)
      await timers.done([timer])
    } catch (error) {
      log.warn('a timer could not be handled; it will be retried', { timer: timer.id, error })
    }
  }

  async function begin(timer: DueTimer, leasedAtMs: number, owners: TimerOwners): Promise<void> {
    const owner = timer.id.slice(0, timer.id.indexOf(':'))
    const ofOwner = [...inProgress.values()].filter((other) => other.owner === owner).length
    // A timer that is in progress has been claimed again after its lease, for example because this process stalled.
    if (inProgress.has(timer.stored) || ofOwner >= MAX_IN_PROGRESS_PER_OWNER) return
    const begun: InProgress = { timer, owner, leasedAtMs }
    inProgress.set(timer.stored, begun)
    await queue.run(`${timer.tenant} ${timer.id}`, () => handle(begun, owners))
    inProgress.delete(timer.stored)
  }

  async function extendLeases(): Promise<void> {
    const nowMs = performance.now()
    const aged = [...inProgress.values()].filter(({ leasedAtMs }) => nowMs - leasedAtMs > EXTEND_AFTER_MS)
    if (aged.length === 0) return
    await timers.extend(
      aged.map(({ timer }) => timer),
      LEASE_MS,
    )
    for (const extended of aged) extended.leasedAtMs = nowMs
  }

  return {
    start: (owners: TimerOwners): void => {
      const work = async (): Promise<number | undefined> => {
        await extendLeases()
        const nowMs = performance.now()
        const due = await timers.claimDue(MAX_AT_ONCE, LEASE_MS)
        if (due.length === 0) return undefined
        const handled = Promise.all(due.map((timer) => begin(timer, nowMs, owners)))
        await answerWithin(WAIT_MS, handled, 'timers are still being handled').catch(() => {})
        return 0
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
    stop: async (): Promise<void> => {
      await poll?.stop()
      await queue.idle()
    },
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
