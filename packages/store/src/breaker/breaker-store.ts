import { randomUUID } from 'node:crypto'
import type { Delivery, Subscription } from '@switchhook/contracts'
import { breakerKey, subscriptionsKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { parseSubscription } from '../subscriptions/subscription-store.ts'
import { type AttemptResult, toText } from './failure-text.ts'

/** Whose endpoint it is; a delivery says so. */
export type Endpoint = Pick<Delivery, 'tenant' | 'subscriptionId'>

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
  health(endpoint: Endpoint): Promise<EndpointHealth>
  /** The same, and the subscription as it is stored now, in the same round trip. */
  look(
    endpoint: Endpoint,
  ): Promise<{ readonly health: EndpointHealth; readonly subscription: Subscription | undefined }>
  /** Undefined: somebody else probes already. A probe of which nothing is heard lapses after `leaseMs`. */
  claimProbe(endpoint: Endpoint, leaseMs: number): Promise<Probe | undefined>
  /** A transient failure, which came to `result`. Resolves to whether the cool-down begins with it. */
  noteFailure(endpoint: Endpoint, probe: Probe | undefined, result?: AttemptResult): Promise<boolean>
  /** It has answered as one that works: the count begins anew, and a cool-down is over. */
  noteAnswer(endpoint: Endpoint): Promise<void>
}

export interface BreakerOptions {
  /** Transient failures in a row that open it. */
  readonly failures: number
  readonly cooldownMs: number
}

/** Failures in a row that are further apart than this are not in a row. */
const REMEMBERED_MS = 24 * 60 * 60_000

const UNKNOWN: AttemptResult = { outcome: 'network', status: null }

export function createBreakerStore(redis: Redis, { failures, cooldownMs }: BreakerOptions): BreakerStore {
  return {
    ...createBreakerReader(redis),
    async claimProbe(endpoint, leaseMs) {
      const probe = randomUUID()
      const claimed = await redis[run]((commands) =>
        commands.runScript('breaker/claim-probe', [keyOf(endpoint)], [probe, leaseMs]),
      )
      return claimed === 1 ? probe : undefined
    },
    async noteFailure(endpoint, probe, result = UNKNOWN) {
      const args = [failures, cooldownMs, probe ?? '', cooldownMs + REMEMBERED_MS, toText(result)]
      const opened = await redis[run]((commands) => commands.runScript('breaker/note-failure', [keyOf(endpoint)], args))
      return opened === 1
    },
    async noteAnswer(endpoint) {
      await redis[run]((commands) => commands.unlink(keyOf(endpoint)))
    },
  }
}

/** For those who only look. */
export function createBreakerReader(redis: Redis): Pick<BreakerStore, 'health' | 'look'> {
  async function read(endpoint: Endpoint, subscriptionId: string) {
    const keys = [keyOf(endpoint), subscriptionsKey(endpoint.tenant)]
    const [state, consecutiveFailures, openUntil, subscription] = await redis[run]((commands) =>
      commands.runScript('breaker/read-endpoint', keys, [subscriptionId]),
    )
    const openUntilMs = openUntil === '0' ? null : Number(openUntil)
    return { health: { state, consecutiveFailures, openUntilMs }, subscription }
  }

  return {
    async health(endpoint) {
      const { health } = await read(endpoint, '')
      return health
    },
    async look(endpoint) {
      const { health, subscription } = await read(endpoint, endpoint.subscriptionId)
      return { health, subscription: subscription === '' ? undefined : parseSubscription(subscription) }
    },
  }
}

const keyOf = ({ tenant, subscriptionId }: Endpoint): string => breakerKey(tenant, subscriptionId)
