import { PARTITIONS, partitionOf, timerMember, timerPayloadsKey, timersKey } from './keys.ts'
import { type Redis, run } from './redis.ts'
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
}

export function createTimerStore(redis: Redis): TimerStore {
  let turn = 0

  async function dueParts(): Promise<number[]> {
    const [time, ...first] = await redis[run]((commands) =>
      Promise.all([
        commands.time(),
        ...PARTITIONS.map((part) => commands.zrange(timersKey(part), '0', '0', 'WITHSCORES')),
      ]),
    )
    const now = Number(time[0]) * 1_000 + Number(time[1]) / 1_000
    return PARTITIONS.filter((part) => {
      const dueAt = first[part]?.[1]
      return dueAt !== undefined && Number(dueAt) <= now
    })
  }

  async function claimFrom(part: number, max: number, leaseMs: number): Promise<DueTimer[]> {
    const keys = [timersKey(part), timerPayloadsKey(part)]
    const reply = await redis[run]((commands) => commands.runScript('claim-timers', keys, [max, leaseMs]))
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
        Promise.all(calls.map(({ keys, args }) => commands.runScript('finish-timers', keys, args))),
      )
    },
  }
}

function parse(stored: string): DueTimer {
  const { id, tenant, payload } = JSON.parse(stored) as Pick<DueTimer, 'id' | 'tenant' | 'payload'>
  return { id, tenant, payload, stored }
}
