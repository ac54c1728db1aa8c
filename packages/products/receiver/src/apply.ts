import { type ReceiverAnswer, STOPPING } from './answer.ts'
import { type AnyEvent, subjectOf } from './events.ts'
import { createInOrder } from './in-order.ts'
import { type Context, type ReceiverOptions, Reject } from './options.ts'
import type { Advance, Store } from './store.ts'

/** An event to apply once. */
export interface Incoming {
  /** What is remembered as done. */
  readonly id: string
  readonly event: AnyEvent
  /** A filter leaves gaps in `sequence`: a gap is no loss. */
  readonly isSparse?: boolean
  readonly about: Pick<Context<unknown>, 'deliveryId' | 'eventId' | 'attempt'>
}

const BUSY: ReceiverAnswer = { status: 503, reason: 'Another process is handling this delivery.' }
const AWAY: ReceiverAnswer = { status: 503, reason: 'The store of the receiver failed.' }
const FAILED: ReceiverAnswer = { status: 500, reason: 'The handler failed.' }

type ApplyOptions<Tx> = Omit<ReceiverOptions<Tx>, 'secrets' | 'name' | 'store' | 'onError'> & {
  readonly store: Store<Tx>
  readonly onError: (error: unknown, event?: AnyEvent) => void
}

/** Applies events: each once, those of one call leg or agent one after the other, and none that is older than the last. */
export function createApply<Tx>(options: ApplyOptions<Tx>, signal: AbortSignal) {
  const { store, order = 'latest', on, onStale, onGap, onError } = options
  const running = new Map<string, Promise<ReceiverAnswer>>()
  const inOrder = createInOrder()

  async function apply(
    { id, event, about, isSparse }: Incoming,
    ordered: ReturnType<typeof subjectOf>,
  ): Promise<ReceiverAnswer> {
    // The type of `event` belongs to the handler of its name.
    const handler = ((on as Record<string, unknown>)[event.eventType] ?? on.other) as typeof on.other
    if (handler === undefined) return { status: 204 }
    if (signal.aborted) return STOPPING
    let advance: Advance = { newer: true, missed: 0 }
    let hasHandlerFailed = false
    try {
      const result = await store.once(id, async (tx) => {
        if (ordered) advance = await store.advance(tx, ordered.subject, ordered.position)
        if (isSparse === true) advance = { ...advance, missed: 0 }
        if (!advance.newer) return
        try {
          await handler(event, { ...about, tx, missed: advance.missed, signal })
        } catch (error) {
          hasHandlerFailed = true
          throw error
        }
      })
      if (result === 'busy') return BUSY
      if (result === 'done') await tell(event, advance)
      return { status: 204 }
    } catch (error) {
      onError(error, event)
      if (!hasHandlerFailed) return AWAY
      return error instanceof Reject ? { status: 422, reason: error.message } : FAILED
    }
  }

  /** Of an event that is done: a retry would not come here again. */
  async function tell(event: AnyEvent, { newer, missed }: Advance): Promise<void> {
    try {
      if (!newer) await onStale?.(event)
      if (missed > 0) await onGap?.(event, missed)
    } catch (error) {
      onError(error, event)
    }
  }

  return {
    /** A delivery that is being applied is not begun again. */
    apply: (incoming: Incoming): Promise<ReceiverAnswer> => {
      const before = running.get(incoming.id)
      if (before) return before
      const ordered = order === 'latest' ? subjectOf(incoming.event) : undefined
      const run = inOrder(ordered?.subject ?? incoming.id, () => apply(incoming, ordered))
      running.set(incoming.id, run)
      return run.finally(() => running.delete(incoming.id))
    },
    /** Resolves when nothing is being applied. */
    async idle(): Promise<void> {
      await Promise.allSettled(running.values())
    },
  }
}
