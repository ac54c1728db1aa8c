/** Timers cannot wait longer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Starts the limit for one call of the client, together with the caller's own signal. */
export function startDeadline(ms: number, caller?: AbortSignal) {
  const controller = new AbortController()
  const endsAtMs = performance.now() + ms
  // oxlint-disable-next-line no-restricted-globals -- the client runs in browsers, without packages/runtime
  const timer = setTimeout(() => controller.abort(), Math.min(ms, MAX_TIMER_MS))
  return {
    signal: either(controller.signal, caller),
    isOver: () => controller.signal.aborted,
    leftMs: () => endsAtMs - performance.now(),
    stop: () => clearTimeout(timer),
  }
}

/** A signal that is aborted with the first of the two. */
export const either = (own: AbortSignal, other?: AbortSignal): AbortSignal =>
  other ? AbortSignal.any([own, other]) : own

/** The result of `work`; rejects with the signal's reason if that comes first. */
export const orAborted = <T>(work: Promise<T>, signal?: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal?.reason as Error)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop)
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop))
  })

/** Waits; rejects with the signal's reason once it is aborted. */
export function waitMs(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: Parameters<typeof clearTimeout>[0]
  const wait = new Promise<void>((resolve) => {
    // oxlint-disable-next-line no-restricted-globals -- a wait before a retry, which ends no answer
    timer = setTimeout(resolve, ms)
  })
  return orAborted(wait, signal).finally(() => clearTimeout(timer))
}
