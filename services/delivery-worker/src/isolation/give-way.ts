import type { Delivery } from '@switchhook/contracts'

export interface GiveWayOptions {
  /** Deliveries of backlogs in progress while others are due. */
  readonly most: number
  /** Others count as due for this long after the last one. */
  readonly memoryMs: number
  /** A delivery waits no longer than this, whatever else is due. */
  readonly patienceMs: number
  /** Monotonic. */
  readonly nowMs: () => number
}

export type Handle = (delivery: Delivery) => Promise<void>

/** Lets deliveries of backlogs give way to the others. */
export interface GiveWay {
  /** For deliveries that others give way to. */
  readonly first: (handle: Handle) => Handle
  /** For deliveries of backlogs: they wait while `most` of them are in progress and others are due. */
  readonly second: (handle: Handle) => Handle
}

export function createGiveWay({ most, memoryMs, patienceMs, nowMs }: GiveWayOptions): GiveWay {
  let lastFirst = Number.NEGATIVE_INFINITY
  let inProgress = 0
  const waiting = new Set<() => void>()

  const mayStart = (): boolean => inProgress < most || nowMs() - lastFirst > memoryMs

  function handOut(): void {
    for (const go of waiting) {
      if (!mayStart()) return
      go()
    }
  }

  function start(): Promise<void> | undefined {
    if (waiting.size === 0 && mayStart()) {
      inProgress += 1
      return undefined
    }
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer)
        waiting.delete(go)
        inProgress += 1
        resolve()
      }
      // oxlint-disable-next-line no-restricted-globals -- patience: the delivery starts either way
      const timer = setTimeout(go, patienceMs)
      waiting.add(go)
    })
  }

  return {
    first: (handle) => (delivery) => {
      lastFirst = nowMs()
      return handle(delivery)
    },
    second: (handle) => async (delivery) => {
      await start()
      try {
        await handle(delivery)
      } finally {
        inProgress -= 1
        handOut()
      }
    },
  }
}
