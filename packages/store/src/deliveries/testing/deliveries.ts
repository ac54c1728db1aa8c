import type { Attempt, Delivery, SubscriptionId } from '@switchhook/contracts'
import { aDelivery, type TestRedis, UNLIMITED, unscheduled, unverified, useRedis } from '@switchhook/testkit'
import { createTenantParked, type TenantParkedQuery } from '../../history/tenant-parked.ts'
import { execute, openRedis, type Redis } from '../../redis/redis.ts'
import { createDeliveryArchive, type DeliveryArchive } from '../delivery-archive.ts'
import { createDeliveryStore, type DeliveryStore } from '../delivery-store.ts'

export const HOUR_MS = 3_600_000

export const retention = {
  finishedRetentionMs: HOUR_MS,
  parkedRetentionMs: 720 * HOUR_MS,
  scheduleOf: unscheduled,
}

export interface TestDeliveries {
  readonly server: TestRedis
  readonly redis: Redis
  readonly store: DeliveryStore & DeliveryArchive
  /** The parked deliveries of a subscription of `acme`. */
  readonly parked: ReturnType<typeof parkedOf>
  readonly ttlOf: (key: string) => Promise<number>
  /** Begins the next run and notes it as published. Resolves to the message that a worker would consume. */
  readonly sendAgain: (delivery: Delivery) => Promise<Delivery>
}

/**
 * Gives the tests of a file a store of deliveries, which is empty before each test. Call it at the top of the file; `opened` is
 * called before the first test.
 */
export function useDeliveries(opened: (fixture: TestDeliveries) => void): void {
  let server: TestRedis | undefined
  useRedis(openRedis, (world) => {
    ;({ server } = world)
    opened(fixtureOf(world))
  })
  beforeEach(() => server?.flush())
}

function fixtureOf({ server, redis }: Pick<TestDeliveries, 'server' | 'redis'>): TestDeliveries {
  const store = { ...createDeliveryStore(redis, retention, UNLIMITED, unverified), ...createDeliveryArchive(redis) }
  return {
    server,
    redis,
    store,
    parked: parkedOf(redis),
    ttlOf: (key) => redis[execute]((commands) => commands.pttl(key)),
    async sendAgain(delivery) {
      const redelivery = await store.beginRedelivery(delivery.deliveryId, { sender: 'a' })
      if (redelivery.kind !== 'begun') throw new Error(redelivery.kind)
      await store.redeliverySent(redelivery.record)
      const { run: nextRun, slot, attempt, body } = redelivery.record
      return { ...delivery, run: nextRun, slot, attempt, body }
    },
  }
}

export const parkedOf =
  (redis: Redis) =>
  (subscriptionId: SubscriptionId, query: Omit<TenantParkedQuery, 'matches'> & Partial<TenantParkedQuery>) =>
    createTenantParked(redis).page('acme', { matches: () => true, ...query, subscriptionId })

/** Its body is not valid UTF-8, so a store that decodes the body fails the tests. */
export const deliveryOf = (over: Partial<Delivery> = {}): Delivery =>
  aDelivery({ firstDueAt: '2026-11-20T12:00:00.000Z', body: Buffer.from([0x7b, 0xff, 0x00, 0x0a, 0x7d]), ...over })

/** The POST of a consumed delivery. */
export const postOf = (delivery: Delivery, outcome: Attempt['outcome'], status: number | null): Attempt => ({
  run: delivery.run,
  slot: delivery.slot,
  attempt: delivery.attempt + 1,
  at: '2026-11-20T12:00:01.000Z',
  durationMs: 12,
  outcome,
  status,
})

export const failed = (delivery: Delivery): Attempt => postOf(delivery, 'answered', 503)
export const delivered = (delivery: Delivery): Attempt => postOf(delivery, 'delivered', 204)
export const refused = (delivery: Delivery): Attempt => postOf(delivery, 'answered', 410)

/** The message of the slot after a failed one, which `waitingAfter` names. */
export const nextOf = (delivery: Delivery): Delivery => ({
  ...delivery,
  slot: delivery.slot + 1,
  attempt: delivery.attempt + 1,
  token: FIRST_NEXT.token,
})

export const NEXT_AT = '2026-11-20T12:00:11.000Z'
const FIRST_NEXT = { token: 'a', postponed: 0 }
/** The settlement of a slot that failed or was postponed. */
export const waitingAfter = ({ slot }: Pick<Delivery, 'slot'>, next = FIRST_NEXT) =>
  ({ state: 'waiting', slot: next.postponed > 0 ? slot : slot + 1, nextAttemptAt: NEXT_AT, next }) as const
export const acknowledged = { state: 'acknowledged' } as const
