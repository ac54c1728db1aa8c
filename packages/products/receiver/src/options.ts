import type { AnyEvent, EventOf, KnownType } from './events.ts'
import type { Store } from './store.ts'

/** What a handler gets besides the event. */
export interface Context<Tx> {
  /** Null: `reconcile` read the state from the API. */
  readonly deliveryId: string | null
  /** Shared by the deliveries of the event to all subscriptions. Null: `reconcile` read the state from the API. */
  readonly eventId: string | null
  /** Counts from 1; 0: `reconcile` read the state from the API. */
  readonly attempt: number
  /** Writes the effects, in the transaction of the store. */
  readonly tx: Tx
  /** How many events of this call leg or agent before this one were not applied. They are late, or lost. */
  readonly missed: number
  /** Aborted by `stop`. */
  readonly signal: AbortSignal
}

type Handler<Event, Tx> = (event: Event, ctx: Context<Tx>) => Promise<void> | void

/** Event types without a handler go to `other`; without `other`, they are acknowledged. */
export type Handlers<Tx> = { readonly [Type in KnownType]?: Handler<EventOf<Type>, Tx> } & {
  readonly other?: Handler<AnyEvent, Tx>
}

export interface ReceiverOptions<Tx> {
  /**
   * The secrets of the subscriptions that send to this endpoint, and during a rotation the previous ones too. A function is
   * asked again after ten seconds.
   */
  readonly secrets: string | readonly string[] | (() => readonly string[] | Promise<readonly string[]>)
  /**
   * Separates receivers that share a Redis or a database: give each its own name. Receivers with the same name, or without
   * one, skip events that another of them has handled. All processes of a receiver use the same name. A receiver that gets
   * another name forgets what it has handled.
   */
  readonly name?: string
  /** Default: `memoryStore()`, which forgets at a restart. */
  readonly store?: Store<Tx>
  /** Below `DELIVERY_TIMEOUT` of the installation. The handler goes on; the retry finds it done. Default: 8 s. */
  readonly answerWithinMs?: number
  /** `latest`: a call or an agent never goes back to an older state. `none`: each event is handled. Default: `latest`. */
  readonly order?: 'latest' | 'none'
  readonly on: Handlers<Tx>
  /** A test delivery or a receiver check: no event occurred. */
  readonly onTest?: (event: AnyEvent) => Promise<void> | void
  /**
   * The event was older than the state that was applied, and was skipped. If this fails, `onError` gets the error, and the
   * delivery is acknowledged: the event is done, and is not told again.
   */
  readonly onStale?: (event: AnyEvent) => Promise<void> | void
  /** The event was applied, and `missed` events before it were not. They are late, or lost. Fails as `onStale` does. */
  readonly onGap?: (event: AnyEvent, missed: number) => Promise<void> | void
  /** Default: `console.error`. */
  readonly onError?: (error: unknown, event?: AnyEvent) => Promise<void> | void
}

/** Thrown by a handler: the delivery is answered 422, and parked without a retry. */
export class Reject extends Error {
  override readonly name = 'Reject'
}
