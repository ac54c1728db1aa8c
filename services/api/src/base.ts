import { AsyncLocalStorage } from 'node:async_hooks'
import { type Broker, serviceTopology } from '@switchhook/messaging'
import { tracePublishDelivery } from '@switchhook/runtime'
import { openBacking, type Service } from '@switchhook/service'
import { openVault } from '@switchhook/signing'
import { createDeliveryPolicyStore, createJournalReader, createSubscriptionStore } from '@switchhook/store'
import type { ApiConfig } from './config.ts'

/** The parts that `api.ts` opens first and everything else can use. */
export type Base = Awaited<ReturnType<typeof openBase>>['base']

/** Waits for Redis, but not for the broker. */
export async function openBase(service: Service<ApiConfig>) {
  const { config, log, metrics, tracing } = service
  // The outbox relay drains a full Redis, and requests are accepted without the broker.
  const { redis, broker, installation, now, redisNow, readiness } = await openBacking(service, {
    topology: () => serviceTopology([], { eventShards: config.EVENT_SHARDS }),
    redisMayBeFull: true,
    waitForBroker: false,
  })
  const requestTraces = new AsyncLocalStorage<string>()
  const publishTraced = tracePublishDelivery(tracing, (delivery) => broker.publishDelivery(delivery))
  /** Publishes within a span, in the trace of the current request; the delivery carries the trace on. */
  const publishDelivery: Broker['publishDelivery'] = (delivery) => {
    const traceparent = requestTraces.getStore()
    return publishTraced({ ...delivery, ...(traceparent !== undefined && { traceparent }) })
  }
  const base = {
    config,
    log,
    metrics,
    tracing,
    redis,
    broker,
    installation,
    vault: openVault(config, log),
    journal: createJournalReader(redis, {
      size: config.EVENT_JOURNAL_SIZE,
      retentionMs: config.EVENT_JOURNAL_RETENTION,
      deliveryRetentionMs: config.DELIVERY_RETENTION,
    }),
    /** Confirms the installation before it reports that a subscription does not exist. */
    subscriptions: createSubscriptionStore(redis, installation.verify, {
      mostPerTenant: config.SUBSCRIPTION_LIMIT_PER_TENANT,
      mostBytesPerTenant: config.SUBSCRIPTION_BYTES_PER_TENANT,
      removedRetentionMs: async () => (await createDeliveryPolicyStore(redis).find())?.retention.parkedMs,
    }),
    publishDelivery,
    /** The `traceparent` of the current request; undefined outside a request. */
    traceOfRequest: () => requestTraces.getStore(),
    /** Milliseconds since 1970, at most a few seconds from Redis's clock (`ClockWatch`). */
    now,
    /** Redis's clock, ms since 1970, for what is final or must not be early (`ClockWatch`). */
    redisNow,
  }
  return { base, readiness, requestTraces }
}
