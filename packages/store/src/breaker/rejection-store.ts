import { randomUUID } from 'node:crypto'
import { parseRecoveryId, type RecoveryId } from '@switchhook/contracts'
import { type Endpoint, rejectedKey, subscriptionsKey } from '../keys.ts'
import { execute, type Redis, runScript } from '../redis/redis.ts'

/** The rejected deliveries of an endpoint that the next 2xx makes a recovery send again. */
export interface Rejections {
  /** When the first of them was parked, in ms since 1970. */
  readonly sinceMs: number
  /** The id of the recovery that sends them. */
  readonly recoveryId: RecoveryId
  /** As stored, unchanged, for `remove`. */
  readonly stored: string
}

/** After the last rejection. */
const REMEMBERED_MS = 30 * 86_400_000

export type RejectionStore = ReturnType<typeof createRejectionStore>

/** Remembers per endpoint since when it has rejected deliveries (`recoverRejected`, ADR 0078). */
export const createRejectionStore = (redis: Redis) => ({
  /** Call it once the delivery is parked. Repeating it is harmless. Does nothing for a deleted subscription. */
  async record(endpoint: Endpoint, parkedAtMs: number): Promise<void> {
    const { tenant, subscriptionId } = endpoint
    const args = [Math.floor(parkedAtMs), randomUUID(), REMEMBERED_MS, subscriptionId]
    await runScript(redis, 'breaker/record-rejection', [rejectedKey(endpoint), subscriptionsKey(tenant)], args)
  },
  async find(endpoint: Endpoint): Promise<Rejections | undefined> {
    const stored = await redis[execute]((commands) => commands.get(rejectedKey(endpoint)))
    if (stored === null) return undefined
    const [since, recoveryId = ''] = stored.split(' ')
    return { sinceMs: Number(since), recoveryId: parseRecoveryId(recoveryId), stored }
  },
  /** Does nothing if a rejection was recorded since they were read. */
  remove: (endpoint: Endpoint, { stored }: Rejections): Promise<void> =>
    runScript(redis, 'redis/delete-if-equal', [rejectedKey(endpoint)], [stored]),
  /** Removes them, whatever they are. */
  async forget(endpoint: Endpoint): Promise<void> {
    await redis[execute]((commands) => commands.del(rejectedKey(endpoint)))
  },
})
