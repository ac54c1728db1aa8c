import { PARTITIONS } from '../keys.ts'
import { pipeline, type Redis } from './redis.ts'

/** How long the first member of the partitions' lists has been due, in ms; 0 if none is. */
export async function overdueIn(redis: Redis, keyOf: (partition: number) => string): Promise<number> {
  const [nowMs, ...first] = await pipeline(redis, (commands) => [
    commands.nowMs(),
    ...PARTITIONS.map((part) => commands.zrange(keyOf(part), '0', '0', 'WITHSCORES')),
  ])
  return Math.max(0, ...first.map(([, dueAt]) => nowMs - Number(dueAt ?? nowMs)))
}

/**
 * The partitions whose list has a due member, or is to be moved because its times are ahead of Redis' clock, after a failover to
 * one whose clock is behind (`keepTime` in prelude.lua).
 */
export async function duePartitions(
  redis: Redis,
  keyOf: (partition: number) => string,
  clockKeyOf: (partition: number) => string,
): Promise<readonly number[]> {
  const [nowMs, ...found] = await pipeline(redis, (commands) => [
    commands.nowMs(),
    ...PARTITIONS.map((part) =>
      Promise.all([commands.zrange(keyOf(part), '0', '0', 'WITHSCORES'), commands.get(clockKeyOf(part))]),
    ),
  ])
  return PARTITIONS.filter((part) => {
    const [[, dueAt] = [], seen] = found[part] ?? []
    return (dueAt !== undefined && Number(dueAt) <= nowMs) || Number(seen ?? 0) > nowMs
  })
}
