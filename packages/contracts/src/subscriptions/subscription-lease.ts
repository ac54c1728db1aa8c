/**
 * First attempts stop on DELETE: after the response to a DELETE or a disable, no first attempt is sent (specification,
 * "Webhook subscriptions", rule 3). A lease makes this provable:
 *
 * A worker reads a subscription at time t and relies on it until t + lease. It checks the lease when the connection is open
 * and the request is about to be written. The api stores the change at time w and responds no earlier than w + lease +
 * margin. A worker that read the old state read it before the change, so t < w. Its check therefore passes before
 * w + lease, and its bytes are written before the response unless check and write are further apart than the margin.
 *
 * Each process measures durations on its own monotonic clock; no two clocks are compared. The margin covers the time after
 * the check (one synchronous write, a pause of the process) and clocks that run at different rates.
 */

/** How long a worker relies on a subscription that it has read, in ms. The api must know the longest lease in use. */
export const SUBSCRIPTION_LEASE_MS = 250

/** How much longer than a lease the api waits before it responds, in ms. */
export const SUBSCRIPTION_LEASE_MARGIN_MS = 100

/** @param askedAtMs monotonic time just before the subscription was read */
export const leaseEndsAt = (askedAtMs: number): number => askedAtMs + SUBSCRIPTION_LEASE_MS

/** @param trustedUntilMs a result of `leaseEndsAt`, on the same clock as `nowMs` */
export const isLeaseValid = (trustedUntilMs: number, nowMs: number): boolean => nowMs < trustedUntilMs

/** When no worker relies on an older state any more. @param storedAtMs monotonic time when the new one was stored */
export const olderLeasesEndAt = (storedAtMs: number): number =>
  storedAtMs + SUBSCRIPTION_LEASE_MS + SUBSCRIPTION_LEASE_MARGIN_MS
