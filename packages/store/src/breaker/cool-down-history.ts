import { coolDownsKey, type Endpoint } from '../keys.ts'
import { scoredEntries } from '../paging.ts'
import { execute, type Redis } from '../redis/redis.ts'

/** When an endpoint was not contacted. Cool-downs that follow each other, because their probes failed, are one period. */
export interface CoolDownPeriod {
  /** When the first cool-down began, in ms since 1970. */
  readonly fromMs: number
  /** When the last cool-down ends, or would have ended: an answer ends it immediately. In ms since 1970. */
  readonly untilMs: number
}

/** The cool-downs of the past. breaker/record-failure.lua writes them in the step that opens the breaker. */
export const createCoolDownHistory = (redis: Redis) => ({
  /** The periods with any moment from `fromMs` to before `toMs`, the oldest first. */
  async between(endpoint: Endpoint, { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }) {
    const stored = await redis[execute]((commands) =>
      commands.zrangebyscore(coolDownsKey(endpoint), `(${fromMs}`, '+inf', 'WITHSCORES'),
    )
    return scoredEntries(stored)
      .map(({ member, since }): CoolDownPeriod => ({ fromMs: Number(member), untilMs: Number(since) }))
      .filter((period) => period.fromMs < toMs)
  },
})
