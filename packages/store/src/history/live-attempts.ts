import type { Attempt, Delivery, DeliveryState, EventSubject, Tenant } from '@switchhook/contracts'
import { attemptsKey, listeningKey } from '../keys.ts'
import { execute, pipeline, type Redis } from '../redis/redis.ts'

export interface LiveAttempt
  extends Pick<Attempt, 'attempt' | 'at' | 'outcome' | 'status' | 'durationMs'>,
    Pick<Delivery, 'deliveryId' | 'subscriptionId' | 'eventId' | 'eventType'>,
    Pick<EventSubject, 'callId' | 'agentUri'> {
  /** The state of the delivery after the attempt. */
  readonly state: DeliveryState
}

/** Attempts that a worker reported together. */
export type LiveAttempts = Awaited<ReturnType<LiveAttemptStore['after']>>[number]

const LISTENING_MS = 15_000
/** How often `listen` must be repeated. */
export const LISTEN_AGAIN_MS = 5_000
const KEPT_MS = 60_000
/** Readers ask several times a second. A batch of 200 attempts has about 70 KB. */
const MAX_BATCHES = 200

export type LiveAttemptStore = ReturnType<typeof createLiveAttemptStore>

/**
 * The path of attempts from the workers to the live stream: one short stream per tenant, which exists only while a listener
 * listens. Attempts that are not read in time are lost; the record of each delivery has them.
 */
export const createLiveAttemptStore = (redis: Redis) => ({
  /** Called by workers, once per tenant and batch. */
  publish: async (tenant: Tenant, attempts: readonly LiveAttempt[], left: number): Promise<void> => {
    const key = attemptsKey(tenant)
    await pipeline(redis, (commands) => [
      commands.xadd(key, 'MAXLEN', '~', MAX_BATCHES, '*', 'attempts', JSON.stringify(attempts), 'left', left),
      commands.pexpire(key, KEPT_MS),
    ])
  },
  /** Asks workers to publish the tenant's attempts for the next 15 seconds. */
  async listen(tenant: Tenant): Promise<void> {
    await redis[execute]((commands) => commands.set(listeningKey(tenant), '', 'PX', LISTENING_MS))
  },
  async newest(tenant: Tenant): Promise<string> {
    const [last] = await redis[execute]((commands) => commands.xrevrange(attemptsKey(tenant), '+', '-', 'COUNT', 1))
    return last?.[0] ?? '0-0'
  },
  /** The oldest first. */
  async after(tenant: Tenant, after: string, count: number) {
    const key = attemptsKey(tenant)
    const found = await redis[execute]((commands) => commands.xrange(key, `(${after}`, '+', 'COUNT', count))
    return found.map(([id, [, attempts = '[]', , left = '0']]) => ({
      /** The place in the stream of attempts. */
      id,
      attempts: JSON.parse(attempts) as LiveAttempt[],
      /** Attempts that the worker left out, because there were too many. */
      left: Number(left),
    }))
  },
})
