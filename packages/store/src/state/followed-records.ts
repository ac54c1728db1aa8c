import { type Tenant, Unavailable } from '@switchhook/contracts'
import { followedKey, PARTITIONS, partitionOf, stateKey } from '../keys.ts'
import { scoredEntries } from '../paging.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'

/** Longer than a process takes from `add` to the commit of the record, and than the clocks of two processes differ. */
const COMMITTED_WITHIN_MS = 5 * 60_000

/**
 * The names of the state records that a platform adapter compares with its platform, over all tenants. Without Redis, every
 * method rejects with Unavailable.
 * @param nowMs milliseconds since 1970
 */
export function createFollowedRecords(redis: Redis, nowMs: () => number = Date.now) {
  async function ofPartition(partition: number) {
    const key = followedKey(partition)
    const found = scoredEntries(await redis[execute]((commands) => commands.zrange(key, '0', '-1', 'WITHSCORES')))
    if (found.length === 0) return []
    const records = found.map(({ member }) => parse(member))
    const stored = await pipeline(redis, (commands) =>
      records.map(({ tenant, key: name }) => commands.exists(stateKey(tenant, name))),
    )
    const oldestMs = nowMs() - COMMITTED_WITHIN_MS
    const isForgotten = found.map(({ since }, at) => stored[at] === 0 && Number(since) < oldestMs)
    const forgotten = found.filter((_one, at) => isForgotten[at]).map(({ member }) => member)
    if (forgotten.length > 0) await redis[execute]((commands) => commands.zrem(key, ...forgotten))
    return records.filter((_one, at) => isForgotten[at] !== true)
  }

  return {
    /**
     * Call it before the first commit of the record: a process that dies in between leaves only a name. A failure counts as
     * not executed, also if the reply is missing, because a name without a record has no effect.
     */
    async add(tenant: Tenant, key: string): Promise<void> {
      const list = followedKey(partitionOf(tenant))
      try {
        await redis[execute]((commands) => commands.zadd(list, nowMs(), memberOf(tenant, key)))
      } catch (cause) {
        if (!(cause instanceof Unavailable)) throw cause
        throw new Unavailable('redis', 'the name of a record could not be stored', { cause, fate: 'not-executed' })
      }
    },
    async remove(tenant: Tenant, key: string): Promise<void> {
      await redis[execute]((commands) => commands.zrem(followedKey(partitionOf(tenant)), memberOf(tenant, key)))
    },
    /** Contains every added name that was not removed. Names whose record has expired are forgotten. */
    all: async () => (await Promise.all(PARTITIONS.map(ofPartition))).flat(),
  }
}

const memberOf = (tenant: Tenant, key: string): string => JSON.stringify([tenant, key])

function parse(member: string) {
  const [tenant, key] = JSON.parse(member) as [Tenant, string]
  return { tenant, key }
}
