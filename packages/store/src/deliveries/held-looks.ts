import { parseSubscriptionId } from '@switchhook/contracts'
import { type Endpoint, heldClaimsKey, heldLooksKey, looksClockKey, PARTITIONS, partitionOf } from '../keys.ts'
import { overdueIn } from '../redis/overdue-in.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'

export interface HeldLook extends Endpoint {
  /** Shows `finish` that no other worker has claimed the look since. */
  readonly claim: string
}

export const memberOf = ({ tenant, subscriptionId }: Endpoint): string => JSON.stringify([tenant, subscriptionId])

const keysOf = (part: number): string[] => [heldLooksKey(part), heldClaimsKey(part), looksClockKey(part)]

export function endpointOf(member: string): Endpoint {
  const [tenant, id] = JSON.parse(member) as [Endpoint['tenant'], string]
  return { tenant, subscriptionId: parseSubscriptionId(id) }
}

export type HeldLooks = ReturnType<typeof createHeldLooks>

/** When workers look at the held deliveries of which subscription. Costs nothing while no delivery is held. */
export const createHeldLooks = (redis: Redis) => {
  /** By how much the times of each partition are ahead of Redis' clock, after a failover to one whose clock is behind. */
  async function clocksAhead(): Promise<readonly number[]> {
    const [nowMs, ...seen] = await pipeline(redis, (commands) => [
      commands.nowMs(),
      ...PARTITIONS.map((part) => commands.get(looksClockKey(part))),
    ])
    return seen.map((atMs) => Number(atMs) - nowMs)
  }

  return {
    /** A worker looks after this time, unless one looks earlier. */
    async askFor(endpoint: Endpoint, inMs: number): Promise<void> {
      const args = [memberOf(endpoint), Math.ceil(inMs)]
      await runScript(redis, 'held/ask-look', keysOf(partitionOf(endpoint.tenant)), args)
    },
    /** The due looks that no other worker has. One that is not finished within `leaseMs` is due again. */
    async claimDue(most: number, leaseMs: number): Promise<HeldLook[]> {
      const [ages, aheadMs] = await Promise.all([overdueIn(redis, heldLooksKey), clocksAhead()])
      const due = PARTITIONS.filter((part) => (ages[part] ?? -1) >= 0 || (aheadMs[part] ?? 0) > 0)
      const claimed = await pipeline(redis, (commands) =>
        due.map((part) => commands.runScript('held/claim-looks', keysOf(part), [most, leaseMs])),
      )
      return claimed.flatMap(([claim = '', ...members]) => members.map((member) => ({ ...endpointOf(member), claim })))
    },
    /** @param nextInMs null: no further look. One that was asked for meanwhile follows in any case, and at its time. */
    async finish({ claim, ...endpoint }: HeldLook, nextInMs: number | null): Promise<void> {
      const args = [memberOf(endpoint), claim, nextInMs === null ? '' : Math.ceil(nextInMs)]
      await runScript(redis, 'held/finish-look', keysOf(partitionOf(endpoint.tenant)), args)
    },
  }
}
