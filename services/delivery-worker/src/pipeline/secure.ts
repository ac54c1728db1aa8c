import type { Attempt, Delivery, ParkedReason } from '@switchhook/contracts'
import { postponedBy, postponeMs } from '../policy/cooldown.ts'
import type { Decision } from '../policy/decide.ts'
import type { Result } from './attempt.ts'

/** The state that the ledger records for a settled slot. */
export type Standing =
  | { readonly state: 'acknowledged' }
  | { readonly state: 'withdrawn' }
  | { readonly state: 'waiting'; readonly nextAttemptAt: string }

export interface SecureDeps {
  /** The waits of the schedule, in ms. */
  readonly waitsMs: readonly number[]
  /** How long a failing endpoint is not contacted. */
  readonly cooldownMs: number
  readonly isSettled: (delivery: Delivery) => Promise<boolean>
  /** Resolves once the broker has confirmed the delivery in its wait queue. */
  readonly retryLater: (delivery: Delivery, waitMs: number) => Promise<void>
  /** Resolves once the parked record is stored. The same write settles the slot. */
  readonly park: (delivery: Delivery, attempt: Attempt | null, reason: ParkedReason) => Promise<void>
  /** Extends the retention of a waiting delivery's record: a postponed slot may wait for longer than the schedule. */
  readonly keep: (delivery: Delivery) => Promise<void>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The step that makes the rest of a delivery safe: with the broker if it is retried, in the store if it is parked.
 * Resolves to the state to settle the slot with; undefined: there is nothing more to settle.
 */
export function createSecure({ waitsMs, cooldownMs, isSettled, retryLater, park, keep, now }: SecureDeps) {
  return async ({ delivery, attempt, openUntilMs }: Result, decision: Decision): Promise<Standing | undefined> => {
    switch (decision.kind) {
      case 'acknowledged':
      case 'withdrawn':
        return { state: decision.kind }
      case 'park':
        await park(delivery, attempt, decision.reason)
        return undefined
      case 'retry': {
        // Another worker may have settled a copy of this message during the POST. Two failed copies must not become two
        // retries, or every later attempt would be made twice.
        if (attempt !== null && (await isSettled(delivery))) return undefined
        const { postponed: _, postponement: __, ...next } = delivery
        await retryLater({ ...next, slot: decision.slot }, decision.waitMs)
        return { state: 'waiting', nextAttemptAt: new Date(now() + decision.waitMs).toISOString() }
      }
      case 'postpone': {
        // The slot stays open, because the same slot comes back. Only cool-downs count towards the limit of a last slot;
        // one whose secret cannot be decrypted waits until it can.
        const { postponed = 0 } = delivery
        const waitMs = postponeMs(postponed, waitsMs, cooldownMs)
        const postponement = openUntilMs === undefined ? undefined : postponedBy(waitMs, delivery, openUntilMs)
        const next = { ...delivery, postponed: postponed + 1, ...(postponement !== undefined && { postponement }) }
        await Promise.all([keep(delivery), retryLater(next, waitMs)])
        return undefined
      }
    }
  }
}
