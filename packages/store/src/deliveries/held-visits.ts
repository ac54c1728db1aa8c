import { parseSubscriptionId } from '@switchhook/contracts'
import { type Endpoint, heldClaimsKey, heldVisitsKey, partitionOf, visitsClockKey } from '../keys.ts'
import { duePartitions } from '../redis/overdue-in.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'

export interface HeldVisit extends Endpoint {
  /** Shows `finish` that no other worker has claimed the visit since. */
  readonly claim: string
}

export const memberOf = ({ tenant, subscriptionId }: Endpoint): string => JSON.stringify([tenant, subscriptionId])

const keysOf = (part: number): string[] => [heldVisitsKey(part), heldClaimsKey(part), visitsClockKey(part)]

export function endpointOf(member: string): Endpoint {
  const [tenant, id] = JSON.parse(member) as [Endpoint['tenant'], string]
  return { tenant, subscriptionId: parseSubscriptionId(id) }
}

export type HeldVisits = ReturnType<typeof createHeldVisits>

/** When workers visit the held deliveries of which subscription. Costs nothing while no delivery is held. */
export const createHeldVisits = (redis: Redis) => ({
  /** A worker visits the subscription after this time, unless one does earlier. */
  async askFor(endpoint: Endpoint, inMs: number): Promise<void> {
    const args = [memberOf(endpoint), Math.ceil(inMs)]
    await runScript(redis, 'held/ask-visit', keysOf(partitionOf(endpoint.tenant)), args)
  },
  /** The due visits that no other worker has. One that is not finished within `leaseMs` is due again. */
  async claimDue(most: number, leaseMs: number): Promise<HeldVisit[]> {
    const due = await duePartitions(redis, heldVisitsKey, visitsClockKey)
    const claimed = await pipeline(redis, (commands) =>
      due.map((part) => commands.runScript('held/claim-visits', keysOf(part), [most, leaseMs])),
    )
    return claimed.flatMap(([claim = '', ...members]) => members.map((member) => ({ ...endpointOf(member), claim })))
  },
  /** @param nextInMs null: no further visit. One that was asked for meanwhile follows in any case, and at its time. */
  async finish({ claim, ...endpoint }: HeldVisit, nextInMs: number | null): Promise<void> {
    const args = [memberOf(endpoint), claim, nextInMs === null ? '' : Math.ceil(nextInMs)]
    await runScript(redis, 'held/finish-visit', keysOf(partitionOf(endpoint.tenant)), args)
  },
})
