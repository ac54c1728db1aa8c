import type { Tenant } from '@switchhook/contracts'
import { partitionOf, timerMember, timerPayloadsKey, timersClockKey, timersKey } from '../keys.ts'
import { duePartitions, overdueIn } from '../redis/overdue-in.ts'
import { pipeline, type Redis } from '../redis/redis.ts'
import { divideEvenly } from './divide-evenly.ts'

/** A due timer, which `StateStore.commit` set. `stored`: the stored text, unchanged, for `done`. */
export type DueTimer = Readonly<ReturnType<typeof parse>>

/** Redis scans them in about 3 ms. Timers of other owners behind so many left ones wait. */
const MAX_SCANNED = 5_000

const keysOf = (part: number): string[] => [timersKey(part), timerPayloadsKey(part), timersClockKey(part)]

export type TimerStore = ReturnType<typeof createTimerStore>

/** Timers that survive processes. Each is claimed at least once, and never before it is due by Redis' clock. */
export function createTimerStore(redis: Redis) {
  let round = 0

  async function asClaimed(
    script: 'state/extend-timers' | 'state/finish-timers',
    timers: readonly DueTimer[],
    args: readonly number[],
  ): Promise<void> {
    const byPartition = [...Map.groupBy(timers, ({ tenant }) => partitionOf(tenant))]
    await pipeline(redis, (commands) =>
      byPartition.map(([part, some]) => {
        const named = some.flatMap(({ tenant, id, stored }) => [timerMember(tenant, id), stored])
        return commands.runScript(script, keysOf(part), [...args, ...named])
      }),
    )
  }

  return {
    /**
     * A claimed timer that is not done after `leaseMs` can be claimed again, by any process.
     * @param leftOwners the timers of these owners, the part of the id before its first colon, stay as they are, overdue
     */
    async claimDue(max: number, leaseMs: number, leftOwners: readonly string[] = []): Promise<DueTimer[]> {
      const due = await duePartitions(redis, timersKey, timersClockKey)
      const claimed = await pipeline(redis, (commands) =>
        divideEvenly(max, due, round++).map(([part, count]) =>
          commands.runScript('state/claim-timers', keysOf(part), [
            count,
            leaseMs,
            leftOwners.length > 0 ? MAX_SCANNED : count,
            ...leftOwners,
          ]),
        ),
      )
      return claimed.flat().map(parse)
    },
    /** Leases claimed timers anew, except those that were set again since they were claimed. */
    extend: (timers: readonly DueTimer[], leaseMs: number): Promise<void> =>
      asClaimed('state/extend-timers', timers, [leaseMs]),
    /** Removes the timers, except those that were set again since they were claimed. */
    done: (timers: readonly DueTimer[]): Promise<void> => asClaimed('state/finish-timers', timers, []),
    /** How long the oldest timer has been due, or its lease over, in ms; 0 if none is. */
    overdueMs: (): Promise<number> => overdueIn(redis, timersKey),
  }
}

function parse(stored: string) {
  const { id, tenant, payload } = JSON.parse(stored) as { id: string; tenant: Tenant; payload: unknown }
  return { id, tenant, payload, stored }
}
