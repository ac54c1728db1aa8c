import { parseSubscriptionId } from '@switchhook/contracts'
import { type Endpoint, heldClaimsKey, heldLooksKey, looksClockKey, partitionOf } from '../keys.ts'
import { duePartitions } from '../redis/overdue-in.ts'
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
export const createHeldLooks = (redis: Redis) => ({
  /** A worker looks after this time, unless one looks earlier. */
  async askFor(endpoint: Endpoint, inMs: number): Promise<void> {
    const args = [memberOf(endpoint), Math.ceil(inMs)]
    await runScript(redis, 'held/ask-look', keysOf(partitionOf(endpoint.tenant)), args)
  },
  /** The due looks that no other worker has. One that is not finished within `leaseMs` is due again. */
  async claimDue(most: number, leaseMs: number): Promise<HeldLook[]> {
    const due = await duePartitions(redis, heldLooksKey, looksClockKey)
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
})
