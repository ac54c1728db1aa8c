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
