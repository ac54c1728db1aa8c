import { setTimeout as sleep } from 'node:timers/promises'
import type { Unavailable } from '@switchhook/contracts'
import { answerWithin, backoffMs, oneAtATime } from '@switchhook/runtime'
import type { ConsumeOptions, ConsumerDeps } from './consume-options.ts'

interface DependencyGateDeps
  extends Pick<ConsumeOptions<unknown>, 'queue' | 'concurrency' | 'recovered'>,
    Pick<ConsumerDeps, 'brokerReady' | 'timing' | 'meter' | 'log'> {
  readonly draining: AbortSignal
  /** Resolves once the broker sends no more messages. Undefined: without a channel, it sends none. */
  readonly unsubscribe: () => Promise<void> | undefined
  readonly subscribe: () => Promise<void> | undefined
}

interface Pause {
  /** Resolves once the broker sends no more messages. */
  readonly cancelled: Promise<void> | undefined
  /** Whether the messages that failed are retried here. If not, they return to the queue, for a replica without the problem. */
  readonly ended: Promise<boolean>
  readonly end: (isRetried: boolean) => void
}

/**
 * Of the messages that are handled at the same time, those that may wait alone. More would leave too little room for the
 * others, and a pause leaves the queue to other replicas.
 */
const MAX_WAITING = 0.5

/**
 * Holds the messages of a consumer while a dependency is down. Usually the consumer pauses. But a dependency may answer and
 * still fail some messages: with one primary of a Redis Cluster away, for example, those whose keys it has. Then each of them
 * waits alone, and the consumer continues.
 */
export function createDependencyGate(deps: DependencyGateDeps) {
  const { queue, concurrency, recovered, brokerReady, timing, meter, log, draining, unsubscribe, subscribe } = deps
  let pause: Pause | undefined
  /** Waits in pauses since the last handled message. */
  let pauseWaits = 0
  /** Messages that wait alone, or ask whether they may. */
  let alone = 0

  const isPaused = (): boolean => pause !== undefined && !draining.aborted

  /** Waits without a limit. false: a check failed. */
  async function haveRecovered(): Promise<boolean> {
    try {
      await Promise.all([recovered(), brokerReady()])
      return true
    } catch (error) {
      log.debug('not recovered yet', { queue, error })
      return false
    }
  }

  /** Messages that fail at the same time share an answer. */
  const doDependenciesAnswer = oneAtATime<'all', boolean>(() =>
    answerWithin(timing.firstPauseMs, haveRecovered(), 'the dependencies do not answer').catch(() => false),
  )

  async function backOff(waits: number): Promise<void> {
    const waitMs = backoffMs(waits, timing.firstPauseMs, timing.longestPauseMs)
    await sleep(waitMs, undefined, { signal: draining }).catch(() => {})
  }

  /** Resolves to false if the consumer must pause: the dependencies do not answer, or too many messages wait already. */
  async function waitAlone(error: Unavailable, waits: number): Promise<boolean> {
    // Decided before the wait: of several that fail together, the first one logs.
    const isFirst = alone === 0
    alone += 1
    try {
      const isTooMany = alone > concurrency * MAX_WAITING
      if (isPaused() || isTooMany || !(await doDependenciesAnswer('all')) || isPaused()) return false
      if (isFirst) log.warn('a message waits for a dependency; the others continue', { queue, error })
      await backOff(waits)
      return true
    } finally {
      alone -= 1
    }
  }

  function beginPause(cause: Unavailable): Pause {
    meter?.paused()
    log.warn('consuming paused', { queue, error: cause })
    const { promise: ended, resolve: end } = Promise.withResolvers<boolean>()
    // oxlint-disable-next-line no-restricted-globals -- a wait: returning the messages is safe
    const timer = setTimeout(() => end(false), timing.retryForMs)
    void ended.then(() => clearTimeout(timer))
    const begun = { cancelled: unsubscribe(), ended, end }
    void resumeAfter(begun)
    return begun
  }

  async function resumeAfter({ cancelled, end }: Pause): Promise<void> {
    const startedAt = performance.now()
    do await backOff(pauseWaits++)
    while (!draining.aborted && !(await haveRecovered()))
    await cancelled
    if (draining.aborted) return
    pause = undefined
    end(true)
    log.info('consuming resumed', { queue, pausedMs: Math.round(performance.now() - startedAt) })
    await subscribe()
  }

  return {
    isPaused,
    isOpen: (): boolean => pause === undefined && !draining.aborted,
    /** Resolves once the gate is open. false: the message must return to the queue. */
    pass: async (): Promise<boolean> => !draining.aborted && (pause === undefined || (await pause.ended)),
    noteHandled: (): void => {
      pauseWaits = 0
    },
    /**
     * Resolves when the message may try the gate again. If the consumer pauses, the broker sends no more messages by then: one
     * that is returned earlier would be redelivered to this consumer immediately.
     * @param waits how often this message has waited
     */
    failed: async (error: Unavailable, waits: number): Promise<void> => {
      if ((await waitAlone(error, waits)) || draining.aborted) return
      pause ??= beginPause(error)
      await pause.cancelled
    },
    /** Returns the messages that wait for the end of the pause. The pause continues. */
    returnWaiting: (): void => pause?.end(false),
  }
}
