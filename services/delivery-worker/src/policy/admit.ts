import { type Delivery, receives, type Subscription } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import type { Withheld } from './decide.ts'
import { createRecentLooks, type EndpointLook, type RecentLooksDeps } from './recent-looks.ts'

export interface Admission {
  /** The delivery as it may be sent now, or the reason to withhold it. */
  readonly admitted: Delivery | Withheld
  readonly health: EndpointHealth
  /** How long a first attempt may rely on the subscription that was read. Monotonic (`performance.now`), in ms. */
  readonly trustedUntilMs: number
}

/** Decides before every POST whether a delivery may be sent. See `createAdmit`. */
export type Admit = (delivery: Delivery) => Promise<Admission>

export interface AdmitDeps extends RecentLooksDeps {
  readonly canSign: (delivery: Delivery) => boolean
}

/**
 * Decides before every POST whether a delivery may be sent, to which url, and with which secret.
 *
 * No *first* attempt is sent after a DELETE, while the subscription is disabled, or for an event type that it no longer
 * receives (specification, "Webhook subscriptions", rule 3). If such a delivery was parked without an attempt and then
 * redelivered, it is parked again. A first attempt is sent to the subscription's current url. A delivery that has already
 * failed keeps its schedule and its url. Both are signed with the subscription's current secret, or with the delivery's
 * own if the subscription was deleted.
 *
 * A first attempt may rely on a recent look of another delivery, but only to be sent. A reused look may be older than the
 * delivery: the subscription may since have been enabled or given the event type, so nothing is withheld because of it.
 */
export function createAdmit(deps: AdmitDeps): Admit {
  const { canSign } = deps
  const looks = createRecentLooks(deps)

  function admittedBy(subscription: Subscription | undefined, delivery: Delivery): Delivery | Withheld {
    if (delivery.attempt === 0 && !isWanted(subscription, delivery)) {
      return { kind: 'withdrawn', ...(delivery.run > 1 && { wasParked: true }) }
    }
    const admitted = subscription === undefined ? delivery : withCurrent(subscription, delivery)
    return canSign(admitted) ? admitted : { kind: 'unsignable', isFinal: subscription === undefined }
  }

  const admissionBy = ({ health, subscription, trustedUntilMs }: EndpointLook, delivery: Delivery): Admission => ({
    health,
    trustedUntilMs,
    admitted: admittedBy(subscription, delivery),
  })

  return async (delivery) => {
    const recent = delivery.attempt === 0 ? looks.find(delivery) : undefined
    if (recent !== undefined) {
      const admission = admissionBy(await recent, delivery)
      if (isHealthy(admission.health) && !('kind' in admission.admitted)) return admission
    }
    return admissionBy(await looks.ask(delivery), delivery)
  }
}

const isHealthy = ({ state, consecutiveFailures }: EndpointHealth): boolean =>
  state === 'closed' && consecutiveFailures === 0

/** A trial, or a delivery that the tenant asked for, may have an event type that the subscription does not receive. */
function isWanted(subscription: Subscription | undefined, { eventType, trial, isRequested }: Delivery): boolean {
  if (subscription === undefined) return false
  return trial === undefined && isRequested !== true ? receives(subscription, eventType) : subscription.enabled
}

/** The delivery with the subscription's current secret, and for a first attempt its current url. */
function withCurrent({ url, signing }: Subscription, delivery: Delivery): Delivery {
  const current = { ...delivery, ...(delivery.attempt === 0 && { url }) }
  if (signing !== undefined) return { ...current, signing }
  const { signing: _, ...unsigned } = current
  return unsigned
}
