import type { Delivery } from '@switchhook/contracts'

/** Of Redis's memory, a usual delivery takes less after eight attempts. */
const UNIT_BYTES = 8_192
/** Of one attempt with the endpoint's answer, and of all that a record keeps, at most (settle-delivery.lua). */
const ATTEMPT_BYTES = 640
const MAX_ATTEMPTS_BYTES = 16_384

/**
 * How many units of a limit a parked or held delivery takes beyond one: one for each further 8 KB of its body and its
 * attempts. So a limit in deliveries bounds the memory, too.
 */
export const extraUnitsOf = ({ body, attempt }: Pick<Delivery, 'body' | 'attempt'>): number =>
  Math.max(0, Math.ceil((body.length + Math.min(ATTEMPT_BYTES * attempt, MAX_ATTEMPTS_BYTES)) / UNIT_BYTES) - 1)
