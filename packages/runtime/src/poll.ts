export type Poll = ReturnType<typeof startPoll>

/**
 * Repeats `work` until it is stopped, each time after a pause of `everyMs`. Runs never overlap. The pauses do not keep the
 * process alive.
 * @param work handles its own errors: a rejection ends the process. It may resolve to the next pause in ms, which a `wake`
 *   during the run does not skip.
 */
export function startPoll(everyMs: number, work: () => Promise<number | void>) {
  let isStopping = false
  /** Ends the present pause, or skips the next one. */
  let waking = Promise.withResolvers<void>()

  async function run(): Promise<void> {
    for (let pauseMs = everyMs; ; ) {
      // oxlint-disable-next-line no-restricted-globals -- a pause between two runs
      const timer = setTimeout(waking.resolve, pauseMs).unref()
      await waking.promise
      clearTimeout(timer)
      if (isStopping) return
      waking = Promise.withResolvers()
      const chosenMs = await work()
      // Forgets a wake, but not a stop.
      if (chosenMs !== undefined && !isStopping) waking = Promise.withResolvers()
      pauseMs = chosenMs ?? everyMs
    }
  }

  const running = run()
  return {
    /** Ends the pause early. During a run, it skips the next pause. */
    wake: (): void => waking.resolve(),
    /** Resolves once the run in progress has ended. */
    stop: (): Promise<void> => {
      isStopping = true
      waking.resolve()
      return running
    },
  }
}

/** The wait before a retry (counted from 0), in ms: doubles from `firstMs` up to `longestMs`. */
export const backoffMs = (retry: number, firstMs: number, longestMs: number): number =>
  Math.min(firstMs * 2 ** retry, longestMs)
