import { outcomesKey } from '../keys.ts'
import { execute, type Redis } from '../redis/redis.ts'

/** How long it is known. The request that reported the outcomes waits for it. */
const KNOWN_MS = 10 * 60_000

export type OutcomeStore = ReturnType<typeof createOutcomeStore>

/** Tells an api that a worker has recorded the outcomes of a batch. */
export const createOutcomeStore = (redis: Redis) => ({
  async recorded(batchId: string): Promise<void> {
    await redis[execute]((commands) => commands.set(outcomesKey(batchId), '', 'PX', KNOWN_MS))
  },
  isRecorded: async (batchId: string): Promise<boolean> =>
    (await redis[execute]((commands) => commands.exists(outcomesKey(batchId)))) === 1,
})
