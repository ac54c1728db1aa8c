import {
  type Delivery,
  hasLimits,
  holdsDeliveries,
  isExpired,
  leaseEndsAt,
  leavesGaps,
  SUBSCRIPTION_LEASE_MS,
  type Subscription,
  type SubscriptionId,
  type Tenant,
  wantsFirstAttempt,
} from '@switchhook/contracts'
import type { BreakerStore, Endpoint, EndpointHealth, Installation, RemovedSubscription } from '@switchhook/store'
import { LRUCache } from 'lru-cache'
import type { Clocks } from '../clocks.ts'
import { RECEIVED_VISIT_MS, type Withheld } from '../policy/decide.ts'

/** The delivery as it may be sent now, or the reason to withhold it. */
export type Admission = { readonly kind: 'admitted'; readonly delivery: Delivery } | Withheld

/** The endpoint as it was read. `trustedUntilMs`: how long an attempt, also a retry, may rely on it. */
export type Reading = Awaited<ReturnType<Admit>>

export type Admit = ReturnType<typeof createAdmit>

export interface AdmitDeps extends Clocks {
  readonly readEndpoint: (delivery: Delivery) => Promise<EndpointState>
  /** See `Breaker.isFailing`. */
  readonly isFailing: (delivery: Delivery) => boolean
  readonly canSign: (delivery: Delivery) => boolean
  /** A deleted subscription as it last was. Undefined: it had no secret and no headers. */
  readonly findRemoved: (endpoint: Delivery) => Promise<RemovedSubscription | undefined>
}

/** How often a worker visits a paused subscription, in case that the api died before it said that it was resumed. */
const PAUSED_VISIT_MS = 60_000

/** In how many ms a worker visits a subscription that holds deliveries. */
export function nextVisitMs({ mode, paused, pausedUntil }: Subscription, nowMs: number): number {
  if (mode === 'pull') return RECEIVED_VISIT_MS
  const leftMs = pausedUntil === undefined ? 0 : Date.parse(pausedUntil) - nowMs
  return paused !== true && leftMs > 0 ? Math.min(leftMs, PAUSED_VISIT_MS) : PAUSED_VISIT_MS
}

/**
 * Decides before every POST whether a delivery may be sent, to which url (ADR 0006), and with which secret.
 *
 * No *first* attempt is sent after a DELETE, while the subscription is disabled, for an event type that it no longer
 * receives (specification, "Webhook subscriptions", rule 3), or for an event that its filter refuses: a PATCH may have
 * changed it since fan-out judged it. Every attempt is signed with the subscription's current secret, or with its last
 * one if it was deleted: the one that the message carries may have been revoked since.
 *
 * A first attempt may rely on a recent read for another delivery, but only to be sent (ADR 0041). Such a read may be
 * older than the delivery: the subscription may since have been enabled or given the event type.
 */
export function createAdmit({ readEndpoint, isFailing, canSign, findRemoved, redisNow, nowMs }: AdmitDeps) {
  /** What was asked last of each endpoint that this worker has not seen fail. First attempts share it for a while. */
  const recent = new LRUCache<SubscriptionId, ReturnType<typeof ask>>({ max: MAX_RECENT })

  /** The lease begins before the question, because the reply may show the state at that time. */
  function ask(delivery: Delivery) {
    const { subscriptionId, tenant } = delivery
    const askedAtMs = nowMs()
    const read = readEndpoint(delivery).then((state) => ({ ...state, trustedUntilMs: leaseEndsAt(askedAtMs) }))
    const asked = { tenant, askedAtMs, read }
    if (isFailing(delivery)) recent.delete(subscriptionId)
    else recent.set(subscriptionId, asked)
    read.catch(() => {
      if (recent.peek(subscriptionId) === asked) recent.delete(subscriptionId)
    })
    return asked
  }

  function askedLately(delivery: Delivery) {
    const known = recent.get(delivery.subscriptionId)
    const isValid = known?.tenant === delivery.tenant && nowMs() - known.askedAtMs < READ_REUSE_MS
    return isValid && !isFailing(delivery) ? known : undefined
  }

  function admissionOf(
    subscription: Subscription | undefined,
    delivery: Delivery,
    removed?: RemovedSubscription,
  ): Admission {
    if (delivery.attempt === 0 && !wantsFirstAttempt(subscription, delivery)) {
      return { kind: 'withdrawn', ...(delivery.run > 1 && { wasParked: true }) }
    }
    // It was received by clients of a subscription that is gone, so there is no endpoint.
    if (subscription === undefined && delivery.url === '') return { kind: 'withdrawn', wasParked: true }
    if (subscription !== undefined && isExpired(subscription, delivery, redisNow())) return { kind: 'expired' }
    if (subscription !== undefined && holdsDeliveries(subscription, redisNow())) {
      return { kind: 'held', visitInMs: nextVisitMs(subscription, redisNow()) }
    }
    const current = subscription ?? removed
    const sent = current === undefined ? delivery : withCurrent(current, delivery)
    if (canSign(sent)) return { kind: 'admitted', delivery: sent }
    // Its own headers are of a url that the subscription has left, so nobody can replace them either.
    const hasOwnHeaders = sent.headers !== undefined && sent.headers !== subscription?.headers
    return { kind: 'unsignable', isFinal: subscription === undefined || hasOwnHeaders }
  }

  const readingOf = ({ subscription, ...read }: EndpointRead, delivery: Delivery, removed?: RemovedSubscription) => ({
    ...read,
    admission: admissionOf(subscription, delivery, removed),
    /** `limited`: the subscription, if each POST needs a permit. */
    ...(subscription !== undefined && hasLimits(subscription) && { limited: subscription }),
  })

  return async (delivery: Delivery) => {
    const shared = delivery.attempt === 0 ? askedLately(delivery) : undefined
    if (shared !== undefined) {
      const reading = readingOf(await shared.read, delivery)
      if (isHealthy(reading.health) && reading.admission.kind === 'admitted') return reading
    }
    const read = await ask(delivery).read
    const isSecret = delivery.signing !== undefined || delivery.headers !== undefined
    const isRemoved = read.subscription === undefined && delivery.attempt > 0 && isSecret
    return readingOf(read, delivery, isRemoved ? await findRemoved(delivery) : undefined)
  }
}

const isHealthy = ({ state, consecutiveFailures, recentHangs }: EndpointHealth): boolean =>
  state === 'closed' && consecutiveFailures === 0 && recentHangs === 0

/** The delivery with the subscription's current secret and headers, and for a first attempt its current url. */
function withCurrent(
  { url, signing, headers, filter }: RemovedSubscription & Pick<Subscription, 'filter'>,
  delivery: Delivery,
): Delivery {
  const first = delivery.attempt === 0 && {
    url,
    ...(leavesGaps(filter, delivery.eventType) && { isSparse: true as const }),
  }
  const { signing: _, headers: earlier, ...rest } = { ...delivery, ...first }
  // A retry goes to its own url. If that is another host, it gets the headers that were meant for it.
  const own = rest.url === url || URL.parse(rest.url)?.origin === URL.parse(url)?.origin ? headers : earlier
  return { ...rest, ...(signing !== undefined && { signing }), ...(own !== undefined && { headers: own }) }
}

/** The breaker and the subscription of an endpoint, read in one round trip. */
export type EndpointState = Pick<Found, 'health' | 'subscription'> & Partial<Pick<Found, 'rejected'>>

type Found = Awaited<ReturnType<BreakerStore['readEndpoint']>>

interface ReadEndpointDeps {
  readonly breakers: Pick<BreakerStore, 'readEndpoint'>
  readonly installation: Pick<Installation, 'confirmAbsence'>
  /** Called with each read: whether the tenant's live stream has listeners. */
  readonly listened: (tenant: Tenant, isListened: boolean) => void
}

/** Reads an endpoint. A subscription is absent only if this Redis holds the installation. */
export const createReadEndpoint = ({ breakers, installation, listened }: ReadEndpointDeps) =>
  installation.confirmAbsence(
    async (endpoint: Endpoint) => {
      const found = await breakers.readEndpoint(endpoint)
      listened(endpoint.tenant, found.isListened)
      return found
    },
    (found) => found.status === 'fulfilled' && found.value.subscription === undefined,
  )

/** `trustedUntilMs`: monotonic. */
type EndpointRead = EndpointState & { readonly trustedUntilMs: number }

/** Half a lease: the other half is left to connect and to write the request. */
export const READ_REUSE_MS = SUBSCRIPTION_LEASE_MS / 2

/** More endpoints than a worker reaches within `READ_REUSE_MS`. */
const MAX_RECENT = 10_000
