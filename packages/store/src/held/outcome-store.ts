import type { DeliveryId } from '@switchhook/contracts'
import { type DeliveryState, parseRecord } from '../deliveries/delivery-record.ts'
import { outcomesKey, recordKey } from '../keys.ts'
import { type Redis, run } from '../redis/redis.ts'

/** The state of a delivery after its outcome was recorded. */
export interface OutcomeResult {
  readonly deliveryId: DeliveryId
  /** `unknown`: its record has expired. */
  readonly state: DeliveryState | 'unknown'
  readonly nextAttemptAt: string | null
}

/** How long results are kept. The request that reported the outcomes waits for them. */
const RESULTS_MS = 10 * 60_000

export type OutcomeStore = ReturnType<typeof createOutcomeStore>

/** Hands the results of reported outcomes from worker to api. */
export function createOutcomeStore(redis: Redis) {
  return {
    /** Saves the present states of the deliveries of a batch. */
    async save(batchId: string, deliveries: readonly DeliveryId[]): Promise<void> {
      const stored = await redis[run]((commands) => commands.getEach(deliveries.map(recordKey)))
      const results = deliveries.map((deliveryId, i): OutcomeResult => {
        const view = parseRecord(stored[i] ?? '')?.view
        return { deliveryId, state: view?.state ?? 'unknown', nextAttemptAt: view?.nextAttemptAt ?? null }
      })
      await redis[run]((commands) => commands.set(outcomesKey(batchId), JSON.stringify(results), 'PX', RESULTS_MS))
    },
    async find(batchId: string): Promise<readonly OutcomeResult[] | undefined> {
      const stored = await redis[run]((commands) => commands.get(outcomesKey(batchId)))
      return stored === null ? undefined : (JSON.parse(stored) as readonly OutcomeResult[])
    },
  }
}
