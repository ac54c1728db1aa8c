import type { Logger } from '@switchhook/runtime'
import type { DueTimer, TimerStore } from '@switchhook/store'

/**
 * One handler per owner; the owner is the part of a timer's id before its first colon. If a handler rejects, the timer
 * is handled again when its lease expires.
 */
export type TimerOwners = Readonly<Record<string, (timer: Pick<DueTimer, 'tenant' | 'payload'>) => Promise<void>>>

export interface TimerLoop {
  start(owners: TimerOwners): void
  /** Announces that this process has set a timer that falls due in `dueInMs`. */
  expect(dueInMs: number): void
  /** Resolves once the handlers in progress have finished. */
  stop(): Promise<void>
}

/** When a replica dies, another one handles its claimed timers after this time. */
const LEASE_MS = 5_000
const MAX_AT_ONCE = 200
/** Polling finds the timers of replicas that died. A timer that this process sets wakes the loop without it. */
const POLL_MS = 500
/** Timers further away than this are left to polling. */
const LONGEST_EXPECTED_MS = 60_000
/** Redis's clock decides which timers are due; the clock of this process may run slightly ahead. */
const CLOCK_SLACK_MS = 5

/** Handles durable timers until it is stopped. Any number of replicas can run it at the same time. */
export function createTimerLoop(timers: Pick<TimerStore, 'claimDue' | 'done'>, log: Pick<Logger, 'warn'>): TimerLoop {
  const alarm = new Alarm()
  const state = { isRunning: false, isUnavailable: false }
  let loop: Promise<void> = Promise.resolve()

  async function handle(timer: DueTimer, owners: TimerOwners): Promise<void> {
    const owner = timer.id.slice(0, timer.id.indexOf(':'))
    try {
      await owners[owner]?.(timer)
      await timers.done([timer])
    } catch (error) {
      log.warn('a timer could not be handled; it will be retried', { timer: timer.id, error })
    }
  }

  /** Logs one line per outage. */
  async function claim(): Promise<readonly DueTimer[]> {
    try {
      const due = await timers.claimDue(MAX_AT_ONCE, LEASE_MS)
      state.isUnavailable = false
      return due
    } catch (error) {
      if (!state.isUnavailable) log.warn('timers cannot be read; retrying', { error })
      state.isUnavailable = true
      return []
    }
  }

  async function run(owners: TimerOwners): Promise<void> {
    while (state.isRunning) {
      const due = await claim()
      if (due.length > 0) await Promise.all(due.map((timer) => handle(timer, owners)))
      else await alarm.sleep(POLL_MS)
    }
  }

  return {
    start: (owners) => {
      state.isRunning = true
      loop = run(owners)
    },
    expect: (dueInMs) => {
      if (state.isRunning && dueInMs <= LONGEST_EXPECTED_MS) alarm.ringIn(dueInMs + CLOCK_SLACK_MS)
    },
    stop: async () => {
      state.isRunning = false
      alarm.cancelAndRing()
      await loop
    },
  }
}

/** Ends a sleep early. A ring during the work between two sleeps ends the next sleep at once. */
class Alarm {
  readonly #timers = new Set<NodeJS.Timeout>()
  #hasRung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#hasRung = true
    this.#wake?.()
  }

  ringIn(ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.ring()
    }, ms)
    this.#timers.add(timer)
  }

  async sleep(maxMs: number): Promise<void> {
    if (!this.#hasRung) {
      const timer = setTimeout(() => this.#wake?.(), maxMs)
      await new Promise<void>((resolve) => (this.#wake = resolve))
      clearTimeout(timer)
      this.#wake = undefined
    }
    this.#hasRung = false
  }

  cancelAndRing(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    this.ring()
  }
}
