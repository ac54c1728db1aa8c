import { type Redis, run } from './redis/redis.ts'

/** What stands in a sorted set, and its score as Redis writes it. */
interface ScoredEntry {
  readonly member: string
  readonly since: string
}

/** A part of a list by time, the newest first. @param before, from as Redis takes scores: `+inf`, `(12`, `-inf` */
export async function newestEntries(
  redis: Redis,
  key: string,
  { before, from, count }: { readonly before: string; readonly from: string; readonly count: number },
): Promise<ScoredEntry[]> {
  const reply = await redis[run]((commands) =>
    commands.zrevrangebyscore(key, before, from, 'WITHSCORES', 'LIMIT', 0, count),
  )
  return Array.from({ length: reply.length / 2 }, (_, i) => ({
    member: reply[2 * i] ?? '',
    since: reply[2 * i + 1] ?? '',
  }))
}
