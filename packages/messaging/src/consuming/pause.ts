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
