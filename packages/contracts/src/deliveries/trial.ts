/**
 * Deliveries without an event. `test`: an example that a client requested. `forged` (wrong signature) and `stale`
 * (signed with a time long past) are parts of a receiver check; a correct receiver rejects both.
 */
const TRIALS = ['test', 'forged', 'stale'] as const

export type Trial = (typeof TRIALS)[number]

/** Undefined for a value of a later version: the delivery is sent as an ordinary one. */
export const readTrial = (value: unknown): Trial | undefined => TRIALS.find((trial) => trial === value)

type Headers = Readonly<Record<string, string>>

/** Older than any receiver should accept; the Standard Webhooks libraries allow five minutes. */
const STALE_MS = 3_600_000

/** A well-formed signature (https://www.standardwebhooks.com) that no key produces. */
const FORGED = `v1,${Buffer.alloc(32, 7).toString('base64')}`

/** The time to sign with, in ms since 1970. */
export const signedAtMs = (trial: Trial | undefined, nowMs: number): number =>
  trial === 'stale' ? nowMs - STALE_MS : nowMs

/** Marks the headers of a POST as a trial, so that the receiver knows that no event occurred. Call it last. */
export function withTrial(trial: Trial | undefined, headers: Headers): Headers {
  if (trial === undefined) return headers
  const isSigned = 'webhook-signature' in headers
  return { ...headers, 'X-SVC-Test': 'true', ...(trial === 'forged' && isSigned && { 'webhook-signature': FORGED }) }
}
