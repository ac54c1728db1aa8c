/**
 * What is sent though nothing has happened. `test`: an example that somebody asked for. `forged` and `stale`: what a
 * receiver has to refuse, by a signature that is not ours or a signed time that is long past.
 */
const TRIALS = ['test', 'forged', 'stale'] as const

export type Trial = (typeof TRIALS)[number]

/** One that a later version may know is none: the delivery is sent all the same. */
export const readTrial = (value: unknown): Trial | undefined => TRIALS.find((trial) => trial === value)

type Headers = Readonly<Record<string, string>>

/** Tells the receiver that nothing has happened. */
const MARK = { 'X-SVC-Test': 'true' }

/** Farther back than any receiver should accept; the libraries of Standard Webhooks allow five minutes. */
const STALE_MS = 3_600_000

/** A well-formed signature (https://www.standardwebhooks.com) of which nobody has the key. */
const FORGED = `v1,${Buffer.alloc(32, 7).toString('base64')}`

/** The time to sign with, in ms since 1970. */
export const signedAtMs = (trial: Trial | undefined, nowMs: number): number =>
  trial === 'stale' ? nowMs - STALE_MS : nowMs

/** The headers of a POST, once they are all made. */
export function withTrial(trial: Trial | undefined, headers: Headers): Headers {
  if (trial === undefined) return headers
  const isSigned = 'webhook-signature' in headers
  return { ...headers, ...MARK, ...(trial === 'forged' && isSigned && { 'webhook-signature': FORGED }) }
}
