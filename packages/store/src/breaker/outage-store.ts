import { breakerKey, type Endpoint } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'
import { resultFromText } from './breaker-store.ts'

/** The start of an endpoint's outage. It stays the same until the breaker closes. Times in ms since 1970. */
export type Outage = ReturnType<typeof parseOpening>

export type OutageStore = ReturnType<typeof createOutageStore>

/** Which outages were reported to the tenant. Kept in the breaker's hash, so it is deleted when the breaker closes. */
export const createOutageStore = (redis: Redis) => ({
  /** Undefined: no outage, or already reported. */
  async unreported(endpoint: Endpoint): Promise<Outage | undefined> {
    const [opening, told] = await redis[execute]((commands) => commands.hmget(breakerKey(endpoint), 'opening', 'told'))
    if (opening == null) return undefined
    const outage = parseOpening(opening)
    return told === String(outage.sinceMs) ? undefined : outage
  },
  /** Marks only this outage, and nothing once it is over: meanwhile the breaker may have closed and opened again. */
  markReported: (endpoint: Endpoint, { sinceMs }: Pick<Outage, 'sinceMs'>): Promise<void> =>
    runScript(redis, 'redis/mark-reported', [breakerKey(endpoint)], ['opening', sinceMs]),
  /**
   * Records the first answer after the outage. Call it before `BreakerStore.recordAnswer`, which deletes the outage.
   * Undefined: the start of the outage was never reported, so its end must not be either; or another worker recorded its end
   * less than the time of a publish ago.
   */
  async recordEnd(endpoint: Endpoint) {
    const [opening, recoveredAt] = await runScript(redis, 'breaker/record-outage-end', [breakerKey(endpoint)])
    return opening === undefined ? undefined : { ...parseOpening(opening), recoveredAtMs: Number(recoveredAt) }
  },
})

function parseOpening(opening: string) {
  const [since, failures, until, ...last] = opening.split(' ')
  return {
    sinceMs: Number(since),
    /** End of the first cool-down. */
    untilMs: Number(until),
    failures: Number(failures),
    last: resultFromText(last.join(' ')),
  }
}
