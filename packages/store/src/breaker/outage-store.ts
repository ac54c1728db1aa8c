import { breakerKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import type { Endpoint } from './breaker-store.ts'
import { type AttemptResult, fromText } from './failure-text.ts'

/** How an endpoint's outage began: the same however often it is read. Times in ms since 1970. */
export interface Outage {
  readonly sinceMs: number
  /** When the first cool-down ends, or ended. */
  readonly untilMs: number
  readonly failures: number
  readonly last: AttemptResult
}

/** Who has been told of what the breaker knows. It is forgotten with the breaker, when the endpoint answers. */
export interface OutageStore {
  /** Undefined: there is none, it was told already, or a version began it that did not keep this. */
  unreported(endpoint: Endpoint): Promise<Outage | undefined>
  markReported(endpoint: Endpoint): Promise<void>
  /** Before the breaker is closed. Undefined: nobody was told that there was an outage. */
  noteEnd(endpoint: Endpoint): Promise<(Outage & { readonly recoveredAtMs: number }) | undefined>
}

export function createOutageStore(redis: Redis): OutageStore {
  return {
    async unreported({ tenant, subscriptionId }) {
      const [opening, told] = await redis[run]((commands) =>
        commands.hmget(breakerKey(tenant, subscriptionId), 'opening', 'told'),
      )
      return opening == null || told != null ? undefined : parseOpening(opening)
    },
    async markReported({ tenant, subscriptionId }) {
      const key = breakerKey(tenant, subscriptionId)
      // Somebody may have closed the breaker meanwhile: what is left must not stay for ever.
      await redis[run]((commands) =>
        Promise.all([commands.hset(key, 'told', '1'), commands.pexpire(key, STRAY_MS, 'NX')]),
      )
    },
    async noteEnd({ tenant, subscriptionId }) {
      const [opening, recoveredAt] = await redis[run]((commands) =>
        commands.runScript('breaker/note-outage-end', [breakerKey(tenant, subscriptionId)], []),
      )
      return opening === undefined ? undefined : { ...parseOpening(opening), recoveredAtMs: Number(recoveredAt) }
    },
  }
}

const STRAY_MS = 60_000

/** As note-failure.lua writes it. */
function parseOpening(opening: string): Outage {
  const [since, failures, until, ...last] = opening.split(' ')
  return {
    sinceMs: Number(since),
    untilMs: Number(until),
    failures: Number(failures),
    last: fromText(last.join(' ')),
  }
}
