import { PARTITIONS } from '../keys.ts'
import { pipeline, type Redis } from './redis.ts'

/** How long the first member of each partition's list has been due, in ms; negative if it is not due yet. */
export async function overdueIn(
  redis: Redis,
  keyOf: (partition: number) => string,
): Promise<readonly (number | undefined)[]> {
  const [nowMs, ...first] = await pipeline(redis, (commands) => [
    commands.nowMs(),
    ...PARTITIONS.map((part) => commands.zrange(keyOf(part), '0', '0', 'WITHSCORES')),
  ])
  return first.map(([, dueAt]) => (dueAt === undefined ? undefined : nowMs - Number(dueAt)))
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
