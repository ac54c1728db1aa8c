import type { SubscriptionId } from '@switchhook/contracts'
import { LRUCache } from 'lru-cache'
import { pullersKey } from '../keys.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'

interface Puller {
  readonly clientId: string
  /** Milliseconds since 1970, like `lastAtMs`: it has received without a pause of a minute since then. */
  readonly sinceMs: number
  readonly lastAtMs: number
}

export interface Pulled {
  /** Milliseconds since 1970; null: no client has received for 38 days. */
  readonly lastAtMs: number | null
  /** The clients of the last minute, the latest first. */
  readonly pullers: readonly Puller[]
}

/** Longer than the longest wait of a request, 25 s. */
const PRESENT_MS = 60_000
/** A month longer than the longest `deleteAfterUnusedSeconds`, because outages do not count against it. */
const RETENTION_MS = 38 * 86_400_000
const MAX_PULLERS = 20
/** How often a process writes that a client receives. */
const NOTED_EVERY_MS = 5_000
/** More clients and subscriptions than a process serves within that time. Beyond it, it writes more often. */
const MAX_NOTED = 10_000

export type PullerStore = ReturnType<typeof createPullerStore>

export function createPullerStore(redis: Redis) {
  /** When this process wrote last, by subscription and client. */
  const notedAtMs = new LRUCache<string, number>({ max: MAX_NOTED })

  /** The latest first. */
  async function all(id: SubscriptionId): Promise<Puller[]> {
    const stored = await redis[execute]((commands) => commands.hgetall(pullersKey(id)))
    return Object.entries(stored)
      .map(([clientId, times]) => {
        const [sinceMs = 0, lastAtMs = 0] = times.split(' ').map(Number)
        return { clientId, sinceMs, lastAtMs }
      })
      .toSorted((a, b) => b.lastAtMs - a.lastAtMs)
  }

  return {
    /** Call it with each request. It writes every few seconds. */
    async note(id: SubscriptionId, clientId: string, nowMs: number): Promise<void> {
      const name = `${id} ${clientId}`
      if (nowMs - (notedAtMs.get(name) ?? Number.NEGATIVE_INFINITY) < NOTED_EVERY_MS) return
      const known = await all(id)
      const same = known.find((each) => each.clientId === clientId)
      const sinceMs = same !== undefined && same.lastAtMs > nowMs - PRESENT_MS ? same.sinceMs : nowMs
      const forgotten = known
        .filter((each) => each !== same)
        .slice(MAX_PULLERS - 1)
        .map((each) => each.clientId)
      await pipeline(redis, (commands) => [
        commands.hset(pullersKey(id), clientId, `${sinceMs} ${nowMs}`),
        commands.pexpire(pullersKey(id), RETENTION_MS),
        ...(forgotten.length > 0 ? [commands.hdel(pullersKey(id), ...forgotten)] : []),
      ])
      notedAtMs.set(name, nowMs)
    },
    async find(id: SubscriptionId, nowMs: number): Promise<Pulled> {
      const known = await all(id)
      return {
        lastAtMs: known[0]?.lastAtMs ?? null,
        pullers: known.filter(({ lastAtMs }) => lastAtMs > nowMs - PRESENT_MS),
      }
    },
  }
}
