import { Unavailable } from '@switchhook/contracts'
import type { Clocks } from '../clocks.ts'

/** Deliveries of backlogs give way for this long after another delivery was due. */
const DUE_MEMORY_MS = 1_000
/** The share of the places that deliveries of backlogs take while others are due: on a busy processor, all delay each other. */
const BACKLOG_SHARE = 0.25
/** A delivery holds its place for this long: afterwards it waits for its endpoint and is no load. */
const HOLDS_MS = 100
/** How often waiting deliveries look for a place that is no longer held. */
const LOOK_EVERY_MS = 10
/** Deliveries in progress, with a place and without one, in places: a limit on sockets and memory. */
export const MAX_DEPTH = 3

/** Call it when the delivery has ended. */
type End = () => void
type Begin = () => Promise<End> | End

export type Places = ReturnType<typeof createPlaces>

/**
 * Places in which deliveries begin. A worker holds more messages than it handles at a time, so that packets of which a member
 * hangs leave room for others.
 */
export function createPlaces(concurrency: number, { nowMs }: Pick<Clocks, 'nowMs'>) {
  let lastDueMs = Number.NEGATIVE_INFINITY
  const forBacklogs = Math.ceil(concurrency * BACKLOG_SHARE)
  const due = createLine(() => concurrency)
  const backlog = createLine(() => (nowMs() - lastDueMs > DUE_MEMORY_MS ? concurrency : forBacklogs))
  const noteDue = (): void => {
    lastDueMs = nowMs()
  }

  function createLine(most: () => number) {
    /** The deliveries that hold a place, and when they began, in this order. */
    const held = new Map<End, number>()
    const waiting: PromiseWithResolvers<End>[] = []
    let inProgress = 0
    let timer: NodeJS.Timeout | undefined
    let isStopping = false

    function hasPlace(): boolean {
      for (const [end, at] of held) {
        if (nowMs() - at < HOLDS_MS) break
        held.delete(end)
      }
      return held.size < most() && inProgress < MAX_DEPTH * concurrency
    }

    function start(): End {
      const end: End = () => {
        inProgress -= 1
        held.delete(end)
        handOut()
      }
      inProgress += 1
      held.set(end, nowMs())
      return end
    }

    function handOut(): void {
      while (waiting.length > 0 && hasPlace()) waiting.shift()?.resolve(start())
      if (waiting.length > 0) return
      clearInterval(timer)
      timer = undefined
    }

    return {
      begin(): Promise<End> | End {
        if (isStopping) throw stopping()
        if (waiting.length === 0 && hasPlace()) return start()
        timer ??= setInterval(handOut, LOOK_EVERY_MS).unref()
        const waits = Promise.withResolvers<End>()
        waiting.push(waits)
        return waits.promise
      },
      stop(): void {
        isStopping = true
        for (const { reject } of waiting.splice(0)) reject(stopping())
        handOut()
      },
    }
  }

  return {
    /** Deliveries of backlogs give way to those that are noted. */
    noteDue,
    /** Resolves once a member of a packet may begin. Rejects with Unavailable when the worker stops. */
    begin: ((): Promise<End> | End => {
      noteDue()
      return due.begin()
    }) satisfies Begin,
    /** The same for deliveries of backlogs: fewer of them are in progress while others are due. */
    beginBacklogged: backlog.begin satisfies Begin,
    /** Returns waiting deliveries to the broker. */
    stop: (): void => {
      due.stop()
      backlog.stop()
    },
  }
}

const stopping = (): Unavailable => new Unavailable('rabbitmq', 'this worker is stopping')
