import type { Tenant } from '@switchhook/contracts'
import { PARTITIONS, partitionOf, timerMember, timerPayloadsKey, timersKey } from '../keys.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'
import { toMs } from '../redis/server-clock.ts'
import { share } from './share.ts'

/** A due timer, which `StateStore.commit` set. */
export interface DueTimer {
  readonly id: string
  readonly tenant: Tenant
  readonly payload: unknown
  /** The stored text, unchanged, for `done`. */
  readonly stored: string
}

/** Timers that survive processes. Each is claimed at least once, and never before it is due by Redis' clock. */
export interface TimerStore {
  /** A claimed timer that is not done after `leaseMs` can be claimed again, by any process. */
  claimDue(max: number, leaseMs: number): Promise<DueTimer[]>
  /** Removes the timers, except those that were set again since they were claimed. */
  done(timers: readonly DueTimer[]): Promise<void>
  /** How long the oldest timer has been due, or its lease over, in ms; 0 if none is. */
  overdueMs(): Promise<number>
}

export function createTimerStore(redis: Redis): TimerStore {
  let round = 0

  /** How long the first timer of each partition has been due, in ms; negative if it is not due yet. */
  async function overdue(): Promise<readonly (number | undefined)[]> {
    const [time, ...first] = await pipeline(redis, (commands) => [
      commands.time(),
      ...PARTITIONS.map((part) => commands.zrange(timersKey(part), '0', '0', 'WITHSCORES')),
    ])
    return first.map(([, dueAt]) => (dueAt === undefined ? undefined : toMs(time) - Number(dueAt)))
  }

  async function dueParts(): Promise<number[]> {
    const ages = await overdue()
    return PARTITIONS.filter((part) => (ages[part] ?? -1) >= 0)
  }

  async function claimFrom(part: number, max: number, leaseMs: number): Promise<DueTimer[]> {
    const keys = [timersKey(part), timerPayloadsKey(part)]
    const reply = await runScript(redis, 'state/claim-timers', keys, [max, leaseMs])
    return reply.map(parse)
  }

  return {
    async claimDue(max, leaseMs) {
      const claims = share(max, await dueParts(), round++).map(([part, count]) => claimFrom(part, count, leaseMs))
      return (await Promise.all(claims)).flat()
    },
    async done(timers) {
      const calls = PARTITIONS.flatMap((part) => {
        const own = timers.filter(({ tenant }) => partitionOf(tenant) === part)
        const args = own.flatMap(({ tenant, id, stored }) => [timerMember(tenant, id), stored])
        return args.length > 0 ? [{ keys: [timersKey(part), timerPayloadsKey(part)], args }] : []
      })
      await pipeline(redis, (commands) =>
        calls.map(({ keys, args }) => commands.runScript('state/finish-timers', keys, args)),
      )
    },
    async overdueMs() {
      return Math.max(0, ...(await overdue()).map((ms) => ms ?? 0))
    },
  }
}

function parse(stored: string): DueTimer {
  const { id, tenant, payload } = JSON.parse(stored) as Pick<DueTimer, 'id' | 'tenant' | 'payload'>
  return { id, tenant, payload, stored }
}
