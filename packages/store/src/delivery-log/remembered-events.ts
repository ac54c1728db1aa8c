import type { EventId } from '@switchhook/contracts'
import { eventKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'

/** Of which of these events there is a record still, one answer each, in one round trip. */
export async function areRemembered(redis: Redis, eventIds: readonly EventId[]): Promise<boolean[]> {
  const found = await redis[run]((commands) =>
    Promise.all(eventIds.map((eventId) => commands.exists(eventKey(eventId)))),
  )
  return found.map((count) => count === 1)
}
