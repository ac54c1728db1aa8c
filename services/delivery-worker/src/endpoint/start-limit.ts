import type { Clocks } from '../clocks.ts'
import { Stopping } from './stopping.ts'

/** Yielding deliveries give way for this long after another delivery was due. */
const DUE_MEMORY_MS = 1_000
/**
 * A delivery counts for this long after its start: afterwards it waits for its endpoint and is no load. It may have waited for
 * a turn before, and on a busy processor an attempt takes longer.
 */
const COUNTS_MS = 400
/** While others are due, yielding deliveries are a share of the limit, and each counts for a shorter time. */
const YIELDING_SHARE = 0.25
const YIELDING_COUNTS_MS = 100
/** How often waiting deliveries check for one that no longer counts. */
const POLL_MS = 10
/** Deliveries in progress, those that no longer count included, in limits: this bounds sockets and memory. */
export const MAX_IN_PROGRESS = 3

/** Call it when the delivery has ended. */
type End = () => void

export type StartLimit = ReturnType<typeof createStartLimit>

/**
 * Limits how many deliveries start at a time. A worker receives more packets than it handles at a time, so that a packet with a
 * hanging member does not delay the others. Yielding deliveries wait here for others.
 */
export function createStartLimit(concurrency: number, { nowMs }: Pick<Clocks, 'nowMs'>) {
  let lastDueMs = Number.NEGATIVE_INFINITY
  const whole = { most: concurrency, countsMs: COUNTS_MS }
  const part = { most: Math.ceil(concurrency * YIELDING_SHARE), countsMs: YIELDING_COUNTS_MS }
  const due = createLine(() => whole)
  const yielding = createLine(() => (nowMs() - lastDueMs > DUE_MEMORY_MS ? whole : part))
  const delayYielding = (): void => {
    lastDueMs = nowMs()
  }

  function createLine(limit: () => typeof whole) {
    /** The deliveries that count, and when they started, in this order. */
    const counted = new Map<End, number>()
    const waiting: PromiseWithResolvers<End>[] = []
    let inProgress = 0
    let timer: NodeJS.Timeout | undefined
    let isStopping = false

    function mayStart(): boolean {
      const { most, countsMs } = limit()
      for (const [end, at] of counted) {
        if (nowMs() - at < countsMs) break
        counted.delete(end)
      }
      return counted.size < most && inProgress < MAX_IN_PROGRESS * concurrency
    }

    function count(): End {
      const end: End = () => {
        inProgress -= 1
        counted.delete(end)
        handOut()
      }
      inProgress += 1
      counted.set(end, nowMs())
      return end
    }

    function handOut(): void {
      while (waiting.length > 0 && mayStart()) waiting.shift()?.resolve(count())
      if (waiting.length > 0) return
      clearInterval(timer)
      timer = undefined
    }

    return {
      start: (): Promise<End> | End => {
        if (isStopping) throw new Stopping()
        if (waiting.length === 0 && mayStart()) return count()
        timer ??= setInterval(handOut, POLL_MS).unref()
        const waits = Promise.withResolvers<End>()
        waiting.push(waits)
        return waits.promise
      },
      stop: (): void => {
        isStopping = true
        for (const { reject } of waiting.splice(0)) reject(new Stopping())
        handOut()
      },
    }
  }

  return {
    /** Lets yielding deliveries give way, because another one is due. */
    delayYielding,
    /** Resolves once a member of a packet may start. @throws Stopping, at once or by rejecting */
    start: (): Promise<End> | End => {
      delayYielding()
      return due.start()
    },
    /**
     * The same for yielding deliveries. While others are due, a quarter start in 100 ms, as many as the whole in 400:
     * fewer are in progress only of those that end sooner.
     */
    startYielding: yielding.start,
    /** Returns waiting deliveries to the broker. */
    stop: (): void => {
      due.stop()
      yielding.stop()
    },
  }
}
