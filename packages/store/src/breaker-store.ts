import { randomUUID } from 'node:crypto'
import type { SubscriptionId } from '@switchhook/contracts'
import { breakerKey } from './keys.ts'
import { type Redis, run } from './redis.ts'

/** Whether an endpoint is contacted: as ever, not during its cool-down, or by one probe that decides. */
export interface EndpointHealth {
  readonly state: 'closed' | 'open' | 'probing'
  readonly consecutiveFailures: number
  /** ms since 1970, when the cool-down ends or has ended; null while closed. */
  readonly openUntilMs: number | null
}

/** The right to make the one contact after a cool-down. */
export type Probe = string

/**
 * One breaker per subscription, shared by all workers; times are Redis' own. What is lost is closed: the worst that can
 * come of it is an attempt too many.
 */
export interface BreakerStore {
  /** One round trip, which changes nothing. */
  ask(subscription: SubscriptionId): Promise<EndpointHealth>
  /** Undefined: somebody else probes already. A probe of which nothing is heard lapses after `leaseMs`. */
  claimProbe(subscription: SubscriptionId, leaseMs: number): Promise<Probe | undefined>
  /** A transient failure. Resolves to whether the cool-down begins with it. */
  noteFailure(subscription: SubscriptionId, probe: Probe | undefined): Promise<boolean>
  /** It has answered as one that works: the count begins anew, and a cool-down is over. */
  noteAnswer(subscription: SubscriptionId): Promise<void>
}

export interface BreakerOptions {
  /** Transient failures in a row that open it. */
  readonly failures: number
  readonly cooldownMs: number
}

/** Failures in a row that are further apart than this are not in a row. */
const REMEMBERED_MS = 24 * 60 * 60_000

export function createBreakerStore(redis: Redis, { failures, cooldownMs }: BreakerOptions): BreakerStore {
  return {
    ask: askWith(redis),
    async claimProbe(subscription, leaseMs) {
      const probe = randomUUID()
      const keys = [breakerKey(subscription)]
      const claimed = await redis[run]((commands) => commands.runScript('claim-probe', keys, [probe, leaseMs]))
      return claimed === 1 ? probe : undefined
    },
    async noteFailure(subscription, probe) {
      const args = [failures, cooldownMs, probe ?? '', cooldownMs + REMEMBERED_MS]
      const opened = await redis[run]((commands) =>
        commands.runScript('note-failure', [breakerKey(subscription)], args),
      )
      return opened === 1
    },
    async noteAnswer(subscription) {
      await redis[run]((commands) => commands.unlink(breakerKey(subscription)))
    },
  }
}

/** For those who only look. */
export function createBreakerReader(redis: Redis): Pick<BreakerStore, 'ask'> {
  return { ask: askWith(redis) }
}

const askWith =
  (redis: Redis): BreakerStore['ask'] =>
  async (subscription) => {
    const [state, consecutiveFailures, openUntil] = await redis[run]((commands) =>
      commands.runScript('ask-breaker', [breakerKey(subscription)], []),
    )
    return { state, consecutiveFailures, openUntilMs: openUntil === '0' ? null : Number(openUntil) }
  }
