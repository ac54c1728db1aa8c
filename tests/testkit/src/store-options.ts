/** Takes any Redis for that of the installation: a test has only one. */
export const unverified = async (): Promise<void> => {}

/** A schedule without retries: a duplicate waits in the broker for a moment. */
export const unscheduled = () => ({ waitsMs: [], cooldownMs: 0 })

/** Limits on what is stored that no test reaches by accident. */
export const UNLIMITED = { perSubscription: 1_000_000_000, perTenant: 1_000_000_000, released: () => {} }
