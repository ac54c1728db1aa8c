/**
 * The lease behind "no first attempt leaves after the answer" (specification, "Webhook subscriptions", rule 3).
 *
 * A worker asks Redis for a subscription at t, and relies on the reply until t + lease. It checks the lease when the
 * connection stands and the request is about to be written. The api changes the subscription at w, and answers no earlier
 * than w + lease + margin. A worker that read the old state asked before the change, so t < w. Its check therefore passes
 * before w + lease, and the bytes are written before the answer unless more than the margin lies between check and write.
 *
 * Each process measures durations on its own monotonic clock; no two clocks are compared. The margin covers what follows
 * the check (one synchronous write, a pause of the process) and clocks that run at different rates.
 */

/** How long a worker relies on what it has read of a subscription, in ms. The api must know the longest lease in use. */
export const SUBSCRIPTION_LEASE_MS = 250

/** How much longer than a lease the api waits before it answers, in ms. */
export const SUBSCRIPTION_LEASE_MARGIN_MS = 100

/** @param askedAtMs monotonic time just before the subscription was asked for */
export const leaseEndsAt = (askedAtMs: number): number => askedAtMs + SUBSCRIPTION_LEASE_MS

/** @param trustedUntilMs a result of `leaseEndsAt`, on the same clock as `nowMs` */
export const isLeaseValid = (trustedUntilMs: number, nowMs: number): boolean => nowMs < trustedUntilMs

/**
 * When no worker relies on an older state any more.
 * @param storedAtMs monotonic time at which the new state was known to be in the store
 */
export const olderLeasesEndAt = (storedAtMs: number): number =>
  storedAtMs + SUBSCRIPTION_LEASE_MS + SUBSCRIPTION_LEASE_MARGIN_MS
