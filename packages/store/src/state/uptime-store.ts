import { UPTIME_KEY } from '../keys.ts'
import { scoredEntries } from '../paging.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'

/** Times in ms since 1970, by Redis' clock. */
export interface Uptime {
  /** Periods in which the api could be asked, the oldest first. The present one ends now. */
  readonly periods: readonly { readonly fromMs: number; readonly untilMs: number }[]
  readonly nowMs: number
}

/** A shorter time without a note is no outage. */
const MAX_GAP_MS = 5_000
/** Older ones are forgotten, which only prolongs what is counted in uptime. */
const KEPT_PERIODS = 1_000

export type UptimeStore = ReturnType<typeof createUptimeStore>

/** When clients could ask the api: while any replica of it noted so every few seconds. */
export const createUptimeStore = (redis: Redis, maxGapMs = MAX_GAP_MS) => ({
  note: (): Promise<void> => runScript(redis, 'state/note-uptime', [UPTIME_KEY], [maxGapMs, KEPT_PERIODS]),
  async read(): Promise<Uptime> {
    const [now, stored] = await pipeline(redis, (commands) => [
      commands.nowMs(),
      commands.zrange(UPTIME_KEY, '0', '-1', 'WITHSCORES'),
    ])
    const nowMs = Math.floor(now)
    const periods = scoredEntries(stored).map(({ member, since }) => {
      const untilMs = Number(since)
      return { fromMs: Number(member), untilMs: nowMs - untilMs <= maxGapMs ? nowMs : untilMs }
    })
    return { periods, nowMs }
  },
})
