import { parseSubscriptionId } from '@switchhook/contracts'
import type { Endpoint } from '../breaker/breaker-store.ts'
import { heldClaimsKey, heldLooksKey, PARTITIONS, partitionOf } from '../keys.ts'
import { pipeline, type Redis, runScript } from '../redis/redis.ts'
import { toMs } from '../redis/server-clock.ts'

/** A claimed look at the held deliveries of a subscription. */
export interface HeldLook extends Endpoint {
  /** As stored, unchanged, for `finish`. */
  readonly member: string
  readonly claim: string
}

/** When workers look at the held deliveries of which subscription. Costs nothing while no delivery is held. */
export interface HeldLooks {
  /** A worker looks at this time (ms since 1970), unless one looks earlier. */
  askFor(endpoint: Endpoint, atMs: number): Promise<void>
  /** The due looks that no other worker has. One that is not finished within `leaseMs` is due again. */
  claimDue(most: number, leaseMs: number): Promise<HeldLook[]>
  /** @param nextInMs null: no further look. One that was asked for meanwhile follows in any case, and at its time. */
  finish(look: HeldLook, nextInMs: number | null): Promise<void>
}

const memberOf = ({ tenant, subscriptionId }: Endpoint): string => JSON.stringify([tenant, subscriptionId])

const keysOf = (part: number): [string, string] => [heldLooksKey(part), heldClaimsKey(part)]

function endpointOf(member: string): Endpoint {
  const [tenant, id] = JSON.parse(member) as [Endpoint['tenant'], string]
  return { tenant, subscriptionId: parseSubscriptionId(id) }
}

export function createHeldLooks(redis: Redis): HeldLooks {
  return {
    async askFor(endpoint, atMs) {
      const args = [memberOf(endpoint), Math.floor(atMs)]
      await runScript(redis, 'held/ask-look', keysOf(partitionOf(endpoint.tenant)), args)
    },
    async claimDue(most, leaseMs) {
      const [time, ...first] = await pipeline(redis, (commands) => [
        commands.time(),
        ...PARTITIONS.map((part) => commands.zrange(heldLooksKey(part), '0', '0', 'WITHSCORES')),
      ])
      const due = PARTITIONS.filter((part) => Number(first[part]?.[1] ?? Number.POSITIVE_INFINITY) <= toMs(time))
      const claimed = await pipeline(redis, (commands) =>
        due.map((part) => commands.runScript('held/claim-looks', keysOf(part), [most, leaseMs])),
      )
      return claimed.flatMap(([claim = '', ...members]) =>
        members.map((member) => ({ ...endpointOf(member), member, claim })),
      )
    },
    async finish({ tenant, member, claim }, nextInMs) {
      const args = [member, claim, nextInMs === null ? '' : Math.ceil(nextInMs)]
      await runScript(redis, 'held/finish-look', keysOf(partitionOf(tenant)), args)
    },
  }
}
