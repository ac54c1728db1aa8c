import type { Attempt, Delivery, Outcome, Subscription } from '@switchhook/contracts'
import type { HeldExcess, Settlement } from '@switchhook/store'
import type { Before } from '../endpoint/breaker.ts'
import type { Decision, Withheld } from '../policy/decide.ts'

/**
 * How far a due delivery is in its slot. A value is never changed: each stage returns the next one.
 *
 * ```
 * due ─look→ admitted ─attempt→ posted ─┬─decide→ decided ─secure→ secured ─settle→ settled ─follow→ acknowledged
 *      │             └────────→ withheld ┘                                          ↑
 *      ├──────────────────────→ withheld, as after `attempt`                         │
 *      └─ the ledger knows the slot ────────────────────────────────────────────────┘
 * ```
 *
 * A process that dies loses the value; the broker returns the message, which is then `due` again. If a stage fails and the
 * process lives, `in-flight.ts` keeps the last value between a POST and `settle`, and the message that comes back goes on
 * from it.
 *
 * | kind | if the process dies here | if the next stage runs twice |
 * | --- | --- | --- |
 * | due | nothing was done | a look reads, and may claim a probe; a second look gets none while the first claim lasts |
 * | `admitted` | nothing was sent; a claimed probe lapses | a second POST with the same attempt number |
 * | `withheld` | nothing was sent; the message is looked at again | `decide` is pure |
 * | `posted` | the POST is repeated with the same attempt number | `decide` is pure |
 * | `decided` | as `posted` or `withheld` | a second retry with a token of its own: the ledger names the token that is settled first |
 * | `secured` | as `posted`; the confirmed retry is dropped when it falls due, or is made and the other one is dropped | the ledger compares and sets, and the second write finds the slot settled; a parked or held delivery is stored with it |
 * | `settled` | the ledger knows the slot: no POST, `follow` runs again | a notice has a derived id, an entry is listed once |
 */
export type Progress =
  | Admitted
  | { readonly kind: 'withheld'; readonly result: NotAttempted }
  | { readonly kind: 'posted'; readonly result: Attempted }
  | (Decided & { readonly kind: 'decided' })
  | (Decided & { readonly kind: 'secured'; readonly settlement: Settlement })
  | Settled

/** The value of one kind, or of some. */
export type At<Kind extends Progress['kind']> = Extract<Progress, { kind: Kind }>

interface Admitted {
  readonly kind: 'admitted'
  /** As it is sent: with the subscription's current url and secret. */
  readonly delivery: Delivery
  /** The endpoint's state when the worker looked, and the probe that this worker claimed. */
  readonly before: Before
  /** The end of the look's lease. Monotonic, in ms. */
  readonly trustedUntilMs: number
  /** The subscription, if the POST needs a permit. */
  readonly limited: Subscription | undefined
}

interface Decided {
  readonly result: SlotResult
  readonly decision: Decision
}

interface Settled {
  readonly kind: 'settled'
  readonly delivery: Delivery
  /** The endpoint's recorded rejections, as in `BreakerStore.readEndpoint`. */
  readonly rejected: string | undefined
  /** Absent: the ledger knew the slot when the worker looked. */
  readonly result?: SlotResult
  /** Absent: the slot was settled already. What follows may be missing. */
  readonly written?: {
    readonly decision: Decision
    /** Held deliveries that exceed a limit, because this one is held, too. */
    readonly excess: readonly HeldExcess[]
  }
}

/** Whether the notice of a parked delivery, and the record of its rejection, may be missing. */
export const mayBeParked = ({ written }: Settled): boolean => written === undefined || written.decision.kind === 'park'

/** What the slot came to: a POST, or the reason against one. */
export type SlotResult = Attempted | NotAttempted

export type Attempted = {
  /** As it was sent. */
  readonly delivery: Delivery
  readonly outcome: Outcome
  readonly attempt: Attempt
} & (
  | { readonly via: 'post'; readonly before: Before }
  /** A client received the delivery and made the attempt, so there is no endpoint, and no breaker. */
  | { readonly via: 'pull'; readonly before?: undefined }
)

interface NotAttempted {
  readonly via: 'nothing'
  readonly delivery: Delivery
  readonly outcome: Withheld
  readonly attempt: null
  readonly before?: undefined
}

export const withheld = (delivery: Delivery, outcome: Withheld): At<'withheld'> => ({
  kind: 'withheld',
  result: { via: 'nothing', delivery, outcome, attempt: null },
})
