import { type Redis, run } from './redis.ts'
import { toMs } from './to-ms.ts'

/** Reads Redis's clock, in ms since 1970. Of a cluster it is the clock of one node. Rejects with Unavailable. */
export const createServerClock = (redis: Redis) => (): Promise<number> =>
  redis[run](async (commands) => toMs(await commands.time()))
