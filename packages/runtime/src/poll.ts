export type Poll = ReturnType<typeof startPoll>

/**
 * Repeats `work` until it is stopped, each time after a pause of `everyMs`. Runs never overlap. The pauses do not keep the
 * process alive.
 * @param work may resolve to the next pause in ms, which a `wake` during the run does not skip.
 * @param failed called with the first of several rejections in a row, so that it logs one line per outage. Absent: `work`
 *   handles its own errors, and a rejection ends the process.
 */
export function startPoll(everyMs: number, work: () => Promise<number | void>, failed?: (error: unknown) => void) {
  let isStopping = false
  let hasFailed = false
  /** Ends the present pause, or skips the next one. */
  let waking = Promise.withResolvers<void>()

  async function workOnce(): Promise<number | void> {
    try {
      const chosenMs = await work()
      hasFailed = false
      return chosenMs
    } catch (error) {
      if (failed === undefined) throw error
      if (!hasFailed) failed(error)
      hasFailed = true
    }
  }

  async function run(): Promise<void> {
    for (let pauseMs = everyMs; ; ) {
      // oxlint-disable-next-line no-restricted-globals -- a pause between two runs
      const timer = setTimeout(waking.resolve, pauseMs).unref()
      await waking.promise
      clearTimeout(timer)
      if (isStopping) return
      waking = Promise.withResolvers()
      const chosenMs = await workOnce()
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
