import type { Attempt, Delivery, Outcome } from '@switchhook/contracts'
import type { Posted } from '../http/post-under-lease.ts'
import type { Decision, Withheld } from '../policy/decide.ts'

/**
 * A delivery has left its slot.
 * @param attempt null: no POST was made, and `outcome` is the reason
 */
export type Concluded = (
  delivery: Delivery,
  attempt: Attempt | null,
  decision: Decision,
  outcome: Outcome | Withheld,
) => void

/**
 * An observer of deliveries, such as the log, the metrics or the statistics (start-observers.ts). Its functions are called
 * synchronously on the path of every delivery, so they must be quick and must not throw.
 */
export interface DeliveryObserver {
  /** A POST begins. The returned function is called once, when it has ended, with its result or with what it threw. */
  readonly posting?: (delivery: Delivery, attempt: number) => (posted?: Posted | Withheld, error?: unknown) => void
  readonly concluded?: Concluded
}

/** One observer that calls all of these, in their order. */
export const notifyAll = (observers: readonly DeliveryObserver[]): Required<DeliveryObserver> => ({
  posting: (delivery, attempt) => {
    const ended = observers.flatMap(({ posting }) => posting?.(delivery, attempt) ?? [])
    return (posted, error) => {
      for (const end of ended) end(posted, error)
    }
  },
  concluded: (...slot) => {
    for (const { concluded } of observers) concluded?.(...slot)
  },
})
