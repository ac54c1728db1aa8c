import { setTimeout as sleep } from 'node:timers/promises'
import type { Unavailable } from '@switchhook/contracts'
import { answerWithin, backoffMs, type Logger } from '@switchhook/runtime'
import type { ConsumeOptions, ConsumerTiming } from './consume-options.ts'

export interface LoneWaitsOptions extends Pick<ConsumeOptions<unknown>, 'queue' | 'concurrency'> {
  readonly timing: Pick<ConsumerTiming, 'firstPauseMs' | 'longestPauseMs'>
  /** Resolves once the dependencies answer. */
  readonly haveRecovered: () => Promise<boolean>
  readonly isPaused: () => boolean
  /** Ends every wait. */
  readonly stopping: AbortSignal
  readonly log: Pick<Logger, 'warn'>
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
export class LoneWaits {
  readonly #options: LoneWaitsOptions
  /** Includes those that ask whether they may wait. */
  #waiting = 0
  /** Shared by all messages that fail at the same time. */
  #probe: Promise<boolean> | undefined

  constructor(options: LoneWaitsOptions) {
    this.#options = options
  }

  /**
   * Lets one message wait, longer after each time. Resolves to false if the consumer must pause instead: the dependencies do
   * not answer, or too many messages wait already.
   * @param waits how often this message has waited
   */
  async wait(waits: number, error: Unavailable): Promise<boolean> {
    const { queue, concurrency, timing, isPaused, stopping, log } = this.#options
    this.#waiting += 1
    try {
      const isTooMany = this.#waiting > concurrency * MAX_WAITING
      if (isPaused() || isTooMany || !(await this.#doDependenciesAnswer()) || isPaused()) return false
      if (this.#waiting === 1) log.warn('a message waits for a dependency; the others continue', { queue, error })
      const waitMs = backoffMs(waits, timing.firstPauseMs, timing.longestPauseMs)
      await sleep(waitMs, undefined, { signal: stopping }).catch(() => {})
      return true
    } finally {
      this.#waiting -= 1
    }
  }

  #doDependenciesAnswer(): Promise<boolean> {
    const { timing, haveRecovered } = this.#options
    this.#probe ??= answerWithin(timing.firstPauseMs, haveRecovered(), 'the dependencies do not answer')
      .catch(() => false)
      .finally(() => {
        this.#probe = undefined
      })
    return this.#probe
  }
}
