import type { Delivery } from '@switchhook/contracts'
import type { Clocks } from '../clocks.ts'

/** Deliveries of backlogs give way for this long after another delivery was due. */
const DUE_MEMORY_MS = 1_000
/** A delivery in progress counts for this long: afterwards it waits for its endpoint and is no load. */
const COUNTS_MS = 100
/** How often those that wait look for a place that no longer counts. */
const LOOK_EVERY_MS = 10

/** @param begins called when the POST begins: until then, the delivery can still move to a lane */
export type Handle = (delivery: Delivery, begins?: () => void) => Promise<void>

/** Call it when a delivery has ended. */
type End = () => void

export type GiveWay = ReturnType<typeof createGiveWay>

/**
 * Lets deliveries of backlogs give way to the others.
 * @param most deliveries of backlogs in progress while others are due
 */
export function createGiveWay(most: number, { nowMs }: Pick<Clocks, 'nowMs'>) {
  let lastFirst = Number.NEGATIVE_INFINITY
  /** The deliveries in progress that count, and when they began, in this order. */
  const began = new Map<End, number>()
  const waiting: ((end: End) => void)[] = []
  let timer: NodeJS.Timeout | undefined

  function mayStart(): boolean {
    const now = nowMs()
    if (now - lastFirst > DUE_MEMORY_MS) return true
    for (const [end, at] of began) {
      if (now - at < COUNTS_MS) break
      began.delete(end)
    }
    return began.size < most
  }

  function start(): End {
    const end: End = () => {
      began.delete(end)
      handOut()
    }
    began.set(end, nowMs())
    return end
  }

  function handOut(): void {
    while (waiting.length > 0 && mayStart()) waiting.shift()?.(start())
    if (waiting.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function begin(): Promise<End> | End {
    if (waiting.length === 0 && mayStart()) return start()
    timer ??= setInterval(handOut, LOOK_EVERY_MS)
    return new Promise((resolve) => void waiting.push(resolve))
  }

  return {
    /** For deliveries that others give way to. */
    first:
      (handle: Handle): Handle =>
      (delivery, begins) => {
        lastFirst = nowMs()
        return handle(delivery, begins)
      },
    /** For deliveries of backlogs: they wait while `most` of them are in progress and others are due. */
    second:
      (handle: Handle): Handle =>
      async (delivery) => {
        const end = await begin()
        await handle(delivery).finally(end)
      },
    begin,
  }
}
