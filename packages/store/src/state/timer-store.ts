import { PARTITIONS, partitionOf, timerMember, timerPayloadsKey, timersKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'
import { toMs } from '../redis/to-ms.ts'
import { share } from './share.ts'

/** A timer that has fallen due, as `StateStore.commit` set it. */
export interface DueTimer {
  readonly id: string
  readonly tenant: string | null
  readonly payload: unknown
  /** What is stored, word for word, for `done`. */
  readonly stored: string
}

/** Timers that outlive every process. Each is handed out at least once, never before it is due by Redis' clock. */
export interface TimerStore {
  /** What is handed out and not done after `leaseMs` is handed out again, to whoever asks. */
  claimDue(max: number, leaseMs: number): Promise<DueTimer[]>
  /** Forgets them, except those that were set anew since they were claimed. */
  done(timers: readonly DueTimer[]): Promise<void>
  /** For how long the oldest has been due, or its lease over, in ms; 0 when none is. */
  overdueMs(): Promise<number>
}

export function createTimerStore(redis: Redis): TimerStore {
  let turn = 0

  /** For how long the first timer of each part has been due; negative: not yet. */
  async function overdue(): Promise<readonly (number | undefined)[]> {
    const [time, ...first] = await redis[run]((commands) =>
      Promise.all([
        commands.time(),
        ...PARTITIONS.map((part) => commands.zrange(timersKey(part), '0', '0', 'WITHSCORES')),
      ]),
    )
    return first.map(([, dueAt]) => (dueAt === undefined ? undefined : toMs(time) - Number(dueAt)))
  }

  async function dueParts(): Promise<number[]> {
    const ages = await overdue()
    return PARTITIONS.filter((part) => (ages[part] ?? -1) >= 0)
  }

  async function claimFrom(part: number, max: number, leaseMs: number): Promise<DueTimer[]> {
    const keys = [timersKey(part), timerPayloadsKey(part)]
    const reply = await redis[run]((commands) => commands.runScript('state/claim-timers', keys, [max, leaseMs]))
    return reply.map(parse)
  }

  return {
    async claimDue(max, leaseMs) {
      const claims = share(max, await dueParts(), turn++).map(([part, count]) => claimFrom(part, count, leaseMs))
      return (await Promise.all(claims)).flat()
    },
    async done(timers) {
      const calls = PARTITIONS.flatMap((part) => {
        const own = timers.filter(({ tenant }) => partitionOf(tenant) === part)
        const args = own.flatMap(({ tenant, id, stored }) => [timerMember(tenant, id), stored])
        return args.length > 0 ? [{ keys: [timersKey(part), timerPayloadsKey(part)], args }] : []
      })
      await redis[run]((commands) =>
        Promise.all(calls.map(({ keys, args }) => commands.runScript('state/finish-timers', keys, args))),
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
