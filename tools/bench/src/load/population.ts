import {
  type Delivery,
  firstDeliveriesOf,
  newEventId,
  newSubscriptionId,
  type Subscription,
} from '@switchhook/contracts'
import { openBroker, serviceTopology } from '@switchhook/messaging'
import { createLogger } from '@switchhook/runtime'
import { newWebhookSecret, openVault, subscriptionSecret } from '@switchhook/signing'
import { createDeliveryStore, createSubscriptionStore, openInstallation, openRedis } from '@switchhook/store'
import { aSubscription, UNLIMITED, unscheduled } from '@switchhook/testkit'
import type { Bench } from '../bench.ts'
import { callData } from './events.ts'

/** The last wait of the default schedule, 6 h: nothing falls due during a benchmark. */
const WAIT_MS = 21_600_000
const LAST_SLOT = 7
const AT_ONCE = 500
const RETENTION_MS = 86_400_000

const tenantOf = (n: number): string => `bench-${n}`

/**
 * Fills a stack with subscriptions and waiting deliveries, by the same functions as the services but without their load.
 * @param url of every subscription
 */
export async function openPopulation({ stack: { urls }, defer }: Bench, url: string) {
  const log = createLogger('bench', 'error')
  const redis = await openRedis({ url: urls.redis, log, name: 'bench' })
  const installation = await openInstallation({ redis, log })
  const broker = await openBroker({
    url: urls.amqp,
    topology: serviceTopology([WAIT_MS]),
    log,
    name: 'bench',
    installation: installation.id,
  })
  defer(async () => {
    await broker.close()
    installation.close()
    await redis.close()
  })
  const store = createSubscriptionStore(redis, installation.verify, {})
  const deliveries = createDeliveryStore(
    redis,
    {
      finishedRetentionMs: RETENTION_MS,
      parkedRetentionMs: RETENTION_MS,
      scheduleOf: unscheduled,
    },
    UNLIMITED,
    installation.verify,
  )
  // A local stack has no SECRET_KEYS, so the services use the same development key.
  const vault = openVault({ SECRET_KEYS: undefined }, { warn: () => {} })
  const created: Subscription[] = []
  let waiting = 0

  async function addSubscription(n: number): Promise<void> {
    const [id, tenant, createdAt] = [newSubscriptionId(), tenantOf(n), new Date().toISOString()]
    const secret = vault.seal(newWebhookSecret(), subscriptionSecret(tenant, id))
    const signing = { id: newEventId(), secret, since: createdAt, former: [] }
    created[n] = await store.create(aSubscription({ id, tenant, url, createdAt, signing }))
  }

  /** Adds a delivery as it is after its last but one attempt has failed. */
  async function addWaiting(n: number): Promise<void> {
    const subscription = created[n % created.length]
    if (subscription === undefined) throw new Error('a waiting delivery needs a subscription')
    const { tenant, signing } = subscription
    const now = new Date()
    const at = now.toISOString()
    const event = { eventId: newEventId(), eventType: 'call.status' as const, occurredAt: at, tenant }
    const failed: Delivery = {
      ...firstDeliveriesOf(event, at, JSON.stringify(callData(n)))(subscription),
      slot: LAST_SLOT - 1,
      attempt: LAST_SLOT - 1,
      ...(signing !== undefined && { signing }),
    }
    const { run, slot } = failed
    const last = { run, slot, attempt: LAST_SLOT, at, durationMs: 10_000, outcome: 'timeout', status: null } as const
    const nextAttemptAt = new Date(now.getTime() + WAIT_MS).toISOString()
    await broker.publishRetry({ ...failed, slot: LAST_SLOT, attempt: LAST_SLOT }, WAIT_MS)
    const next = { token: 'a', postponed: 0 }
    await deliveries.settle(failed, last, { state: 'waiting', slot: LAST_SLOT, nextAttemptAt, next })
  }

  return {
    /** The tenant of the nth subscription, from 0. */
    tenantOf,
    /** Adds subscriptions, each of a tenant of its own, until there are `count`. */
    async growTo(count: number): Promise<void> {
      await inChunks(created.length, count, addSubscription)
    },
    /** Adds deliveries that wait for the last attempt of the schedule, until there are `count`: a message and a record each. */
    async waitingTo(count: number): Promise<void> {
      await inChunks(waiting, count, addWaiting)
      waiting = Math.max(waiting, count)
    },
  }
}

async function inChunks(from: number, to: number, work: (n: number) => Promise<void>): Promise<void> {
  for (let start = from; start < to; start += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, to - start) }, (_, at) => work(start + at)))
  }
}
