import { type Redis, run } from './redis.ts'

/** Reads Redis' clock, in ms since 1970. In a cluster it is the clock of one node. Rejects with Unavailable. */
export const createServerClock = (redis: Redis) => (): Promise<number> =>
  redis[run](async (commands) => toMs(await commands.time()))

/** Converts the reply to TIME (seconds, microseconds) to ms. */
export const toMs = (time: readonly (string | number)[]): number => Number(time[0]) * 1_000 + Number(time[1]) / 1_000
