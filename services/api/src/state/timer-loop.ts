import type { Logger } from '@switchhook/runtime'
import type { DueTimer, TimerStore } from '@switchhook/store'
import { Alarm } from './alarm.ts'

/** By owner: what a timer's id says before its first colon. What rejects is tried again when its lease is over. */
export type TimerOwners = Readonly<Record<string, (timer: Pick<DueTimer, 'tenant' | 'payload'>) => Promise<void>>>

export interface TimerLoop {
  start(owners: TimerOwners): void
  /** This process has set a timer that falls due in so long. */
  expect(dueInMs: number): void
  /** Finishes what is in hand. */
  stop(): Promise<void>
}

/** A replica that dies with timers in hand is replaced by another after so long. */
const LEASE_MS = 5_000
const MAX_AT_ONCE = 200
/** How often we look for timers that another process has set and cannot handle any more. Our own wake us by themselves. */
const LOOK_AROUND_MS = 500
/** What is further away is found by looking around, soon enough. */
const LONGEST_EXPECTED_MS = 60_000
/** The store's clock decides what is due; ours may run a little ahead. */
const CLOCK_SLACK_MS = 5

/** Handles durable timers for as long as the process lives. Any number of replicas do so together. */
export function createTimerLoop(timers: Pick<TimerStore, 'claimDue' | 'done'>, log: Pick<Logger, 'warn'>): TimerLoop {
  const alarm = new Alarm()
  const state = { isRunning: false, isOut: false }
  let loop: Promise<void> = Promise.resolve()

  async function handle(timer: DueTimer, owners: TimerOwners): Promise<void> {
    const owner = timer.id.slice(0, timer.id.indexOf(':'))
    try {
      await owners[owner]?.(timer)
      await timers.done([timer])
    } catch (error) {
      log.warn('a timer could not be handled, will be tried again', { timer: timer.id, error })
    }
  }

  /** One line per outage. */
  async function claim(): Promise<readonly DueTimer[]> {
    try {
      const due = await timers.claimDue(MAX_AT_ONCE, LEASE_MS)
      state.isOut = false
      return due
    } catch (error) {
      if (!state.isOut) log.warn('timers cannot be read, will try again', { error })
      state.isOut = true
      return []
    }
  }

  async function run(owners: TimerOwners): Promise<void> {
    while (state.isRunning) {
      const due = await claim()
      if (due.length > 0) await Promise.all(due.map((timer) => handle(timer, owners)))
      else await alarm.sleep(LOOK_AROUND_MS)
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
      alarm.silence()
      await loop
    },
  }
}
