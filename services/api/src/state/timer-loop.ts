import { answerWithin, createKeyedQueue, type Logger, type Poll, startPoll } from '@switchhook/runtime'
import type { DueTimer, StateChange, StateStore, TimerStore } from '@switchhook/store'

/**
 * One handler per owner; the owner is the part of a timer's id before its first colon. If a handler rejects, or takes longer
 * than a minute, the timer is handled again when its lease expires.
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
/** From so many on, no further timers of an owner are claimed. The last claim before may exceed it. */
const MAX_IN_PROGRESS_PER_OWNER = 200
/** Otherwise a handler that never settles would hold its timer, and later ones of the same id, for ever. */
const MAX_HANDLE_MS = 60_000
/** Of the log lines about one owner whose timers are left. */
const LOG_EVERY_MS = 60_000
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
export function createTimerLoop(
  timers: Pick<TimerStore, 'claimDue' | 'extend' | 'done'>,
  log: Pick<Logger, 'warn'>,
  maxHandleMs = MAX_HANDLE_MS,
) {
  let poll: Poll | undefined
  /** Runs the timers of one id in order. */
  const queue = createKeyedQueue()
  /** By the stored text of the timer. */
  const inProgress = new Map<string, InProgress>()
  /** By owner. Of the monotonic clock. */
  const loggedAtMs = new Map<string, number>()

  async function handle({ timer, owner }: InProgress, owners: TimerOwners): Promise<void> {
    try {
      const handled = owners[owner]?.(timer)
      if (handled !== undefined) await answerWithin(maxHandleMs, handled, 'the handler has not ended in time')
      await timers.done([timer])
    } catch (error) {
      log.warn('a timer could not be handled; it will be retried', { timer: timer.id, error })
    }
  }

  async function begin(timer: DueTimer, leasedAtMs: number, owners: TimerOwners): Promise<void> {
    // It has been claimed again after its lease, for example because this process stalled.
    if (inProgress.has(timer.stored)) return
    const owner = timer.id.slice(0, timer.id.indexOf(':'))
    const begun: InProgress = { timer, owner, leasedAtMs }
    inProgress.set(timer.stored, begun)
    await queue.run(`${timer.tenant} ${timer.id}`, () => handle(begun, owners))
    inProgress.delete(timer.stored)
  }

  /** A process with fewer in progress may claim their timers. Until then they are overdue. */
  function fullOwners(nowMs: number): readonly string[] {
    const byOwner = Map.groupBy(inProgress.values(), ({ owner }) => owner)
    const full = [...byOwner].filter(([, some]) => some.length >= MAX_IN_PROGRESS_PER_OWNER).map(([owner]) => owner)
    for (const owner of full) {
      if (nowMs - (loggedAtMs.get(owner) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) continue
      loggedAtMs.set(owner, nowMs)
      log.warn('too many timers of an owner are in progress; its further timers are left', { owner })
    }
    return full
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
        const full = fullOwners(nowMs)
        const due = await timers.claimDue(MAX_AT_ONCE, LEASE_MS, full)
        // Redis has to look through the timers that are left.
        const pauseMs = full.length > 0 ? WAIT_MS : 0
        if (due.length === 0) return pauseMs || undefined
        const handled = Promise.all(due.map((timer) => begin(timer, nowMs, owners)))
        await answerWithin(WAIT_MS, handled, 'timers are still being handled').catch(() => {})
        return pauseMs
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
