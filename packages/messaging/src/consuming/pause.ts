import { setTimeout as sleep } from 'node:timers/promises'
import type { Unavailable } from '@switchhook/contracts'
import { answerWithin, backoffMs } from '@switchhook/runtime'
import type { ConsumeOptions, ConsumerDeps } from './consume-options.ts'

/** What happens to the messages that failed: they are retried here, or returned to the queue. */
type PauseEnd = 'retry' | 'return'

export type Pause = ReturnType<typeof beginPause>

/**
 * A period in which a consumer takes no messages. The messages that failed wait for its end. After `holdMs` without an end
 * they are returned, so that a replica without the problem gets them.
 * @param cancelled resolves once the broker sends no more messages. Undefined: without a channel, it sends none
 */
export function beginPause(cancelled: Promise<void> | undefined, holdMs: number) {
  const { promise: ended, resolve } = Promise.withResolvers<PauseEnd>()
  // oxlint-disable-next-line no-restricted-globals -- a hold: returning the messages is safe
  const timer = setTimeout(() => resolve('return'), holdMs)
  return {
    cancelled,
    ended,
    /** Only the first call counts. */
    end(end: PauseEnd): void {
      clearTimeout(timer)
      resolve(end)
    },
  }
}

interface LoneWaitsOptions
  extends Pick<ConsumeOptions<unknown>, 'queue' | 'concurrency'>,
    Pick<ConsumerDeps, 'timing' | 'log'> {
  /** Resolves once the dependencies answer. */
  readonly haveRecovered: () => Promise<boolean>
  readonly isPaused: () => boolean
  readonly stopping: AbortSignal
}

/**
 * Of the messages that are handled at the same time, those that may wait alone. More would leave too little room for the
 * others, and a pause leaves the queue to other replicas.
 */
const MAX_WAITING = 0.5

/**
 * Messages that wait for a dependency while their consumer continues. A dependency may answer and still fail some messages:
 * with one primary of a Redis Cluster away, for example, those whose keys it has.
 */
export function createLoneWaits(options: LoneWaitsOptions) {
  const { queue, concurrency, timing, haveRecovered, isPaused, stopping, log } = options
  /** Includes those that ask whether they may wait. */
  let waiting = 0
  /** Shared by all messages that fail at the same time. */
  let probe: Promise<boolean> | undefined

  function doDependenciesAnswer(): Promise<boolean> {
    probe ??= answerWithin(timing.firstPauseMs, haveRecovered(), 'the dependencies do not answer')
      .catch(() => false)
      .finally(() => {
        probe = undefined
      })
    return probe
  }

  /**
   * Lets one message wait, longer after each time. Resolves to false if the consumer must pause instead: the dependencies do
   * not answer, or too many messages wait already.
   * @param waits how often this message has waited
   */
  return async (waits: number, error: Unavailable): Promise<boolean> => {
    waiting += 1
    try {
      const isTooMany = waiting > concurrency * MAX_WAITING
      if (isPaused() || isTooMany || !(await doDependenciesAnswer()) || isPaused()) return false
      if (waiting === 1) log.warn('a message waits for a dependency; the others continue', { queue, error })
      const waitMs = backoffMs(waits, timing.firstPauseMs, timing.longestPauseMs)
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => {})
      return true
    } finally {
      waiting -= 1
    }
  }
}
