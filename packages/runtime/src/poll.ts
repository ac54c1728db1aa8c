export type Poll = ReturnType<typeof startPoll>

/**
 * Repeats `work` until it is stopped, each time after a pause of `everyMs`. Runs never overlap. The pauses do not keep the
 * process alive.
 * @param work handles its own errors: a rejection ends the process. It may resolve to the next pause in ms, which a `wake`
 *   during the run does not skip.
 */
export function startPoll(everyMs: number, work: () => Promise<number | void>) {
  let isStopping = false
  let isWoken = false
  let endPause: (() => void) | undefined

  async function pause(ms: number): Promise<void> {
    if (isWoken || isStopping) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    endPause = resolve
    // oxlint-disable-next-line no-restricted-globals -- a pause between two runs
    const timer = setTimeout(resolve, ms).unref()
    await ended
    clearTimeout(timer)
  }

  async function run(): Promise<void> {
    for (let pauseMs = everyMs; ; ) {
      await pause(pauseMs)
      if (isStopping) return
      isWoken = false
      const chosenMs = await work()
      if (chosenMs !== undefined) isWoken = false
      pauseMs = chosenMs ?? everyMs
    }
  }

  const running = run()
  return {
    /** Ends the pause early. During a run, it skips the next pause. */
    wake: (): void => {
      isWoken = true
      endPause?.()
    },
    /** Resolves once the run in progress has ended. */
    stop: (): Promise<void> => {
      isStopping = true
      endPause?.()
      return running
    },
  }
}
