import type { Schemas } from '@switchhook/client'
import { CLOCK_LIMIT_MS, clockAdvice, reportOf } from '../failure.ts'
import { outcome } from '../output/words.ts'

export interface Diagnosis {
  readonly check: 'address' | 'tls' | 'clock' | 'sign-in' | 'role' | 'stream' | 'endpoint'
  readonly state: 'ok' | 'finding' | 'skipped'
  readonly seen: string
  /** What to do about a finding, in a sentence. */
  readonly repair: string | null
}

const judged =
  (state: 'ok' | 'skipped') =>
  (check: Diagnosis['check'], seen: string): Diagnosis => ({ check, state, seen, repair: null })
export const ok = judged('ok')
export const skipped = judged('skipped')
const finding = (check: Diagnosis['check'], seen: string, repair: string): Diagnosis => ({
  check,
  state: 'finding',
  seen,
  repair,
})

/** @param env of the shell; base images and debugging sessions leave the variable behind */
export function judgeTls(url: string, env: NodeJS.ProcessEnv): Diagnosis {
  if (!url.startsWith('https:')) return skipped('tls', 'the address is not https')
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return ok('tls', 'the certificate is checked')
  return finding(
    'tls',
    'the certificate is not checked',
    'Unset NODE_TLS_REJECT_UNAUTHORIZED: with it, any server can read your token. NODE_EXTRA_CA_CERTS names a certificate authority of your own.',
  )
}

/** @param offsetMs how far this machine's clock is ahead of the server's; undefined: no answer has told it */
export function judgeClock(offsetMs: number | undefined): Diagnosis {
  if (offsetMs === undefined) return skipped('clock', 'no answer of the server had a Date')
  const seconds = Math.round(Math.abs(offsetMs) / 1_000)
  if (Math.abs(offsetMs) <= CLOCK_LIMIT_MS) return ok('clock', `within ${Math.max(seconds, 1)} s of the server's`)
  return finding('clock', `${seconds} s ${offsetMs > 0 ? 'ahead' : 'behind'}`, clockAdvice(offsetMs))
}

/** @param needed the role that this caller should have */
export function judgeRole({ roles, tenant }: Schemas['Me'], needed: string): Diagnosis {
  const seen = `${roles.at(-1) ?? 'none'}, tenant ${tenant ?? 'of the installation'}`
  if (roles.includes(needed as (typeof roles)[number])) return ok('role', seen)
  return finding(
    'role',
    seen,
    `Give this person or application the role ${needed} at the identity provider, and sign in again: its tokens keep the old role.`,
  )
}

/** A request of a signed-in caller that failed, as the check that it concerns. */
export function judgeFailure(error: unknown, status: number | undefined): Diagnosis {
  const { message } = reportOf(error)
  if (status === 403) {
    return finding(
      'role',
      'none',
      'Give this person or application a role at the identity provider, and sign in again.',
    )
  }
  return finding(status === undefined || status >= 500 || status === 404 ? 'address' : 'sign-in', 'failed', message)
}

/** What arrived on a connection to the live stream, in ms after it was opened. */
interface StreamTiming {
  readonly firstMs: number | undefined
  readonly secondMs: number | undefined
  readonly hasEnded: boolean
}

const STREAM = '/api/v1/webhooks/stream'

export function judgeStream({ firstMs, secondMs, hasEnded }: StreamTiming): Diagnosis {
  if (firstMs === undefined) {
    return finding(
      'stream',
      'no first message in time',
      `A proxy in front of Switchhook holds the stream back: turn off response buffering for ${STREAM} (nginx: proxy_buffering off).`,
    )
  }
  if (secondMs === undefined) {
    return finding(
      'stream',
      hasEnded ? 'cut off while it was quiet' : 'silent after the first message',
      `A proxy in front of Switchhook ends or holds quiet connections: set its read timeout for ${STREAM} above 30 s, and turn off buffering.`,
    )
  }
  return ok('stream', `first message after ${firstMs} ms, the next one after ${Math.round(secondMs / 1_000)} s`)
}

export function judgeEndpoints(all: readonly Schemas['SubscriptionSummary'][]): readonly Diagnosis[] {
  const failing = all.flatMap((one) => {
    const { enabled, health, parked, url, subscriptionId: id } = one
    if (!enabled) return []
    const last = { outcome: health.lastFailureOutcome ?? 'unknown', status: health.lastFailureStatus }
    if (health.state !== 'closed' || health.failingSince !== null) {
      const seen = `${url} fails since ${health.failingSince ?? health.lastFailureAt}: ${outcome(last)}`
      return [finding('endpoint', seen, `See what it gets wrong with "switchhook check ${id}", and repair it.`)]
    }
    if (parked === 0) return []
    const seen = `${url} works again, and has ${parked} parked`
    return [finding('endpoint', seen, `Send them again: "switchhook recover ${id} --watch".`)]
  })
  return failing.length > 0 ? failing : [ok('endpoint', `${all.length} looked at, none fails`)]
}
