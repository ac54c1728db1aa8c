import { type Delivery, parseDelivery, parseReceiverCheck } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import {
  type Consumer,
  countDueShards,
  dueQueues,
  type IncomingMessage,
  laneQueues,
  Queue,
  serviceTopology,
} from '@switchhook/messaging'
import { openBacking, type Running, type Service } from '@switchhook/service'
import { openVault } from '@switchhook/signing'
import {
  createBreakerStore,
  createCheckStore,
  createContactStore,
  createDeliveryArchive,
  createDeliveryStore,
  createOutageStore,
  createParkedLimitStore,
  createSubscriptionStore,
} from '@switchhook/store'
import { createCheckReceiver } from './checks/check-receiver.ts'
import type { WorkerConfig } from './config.ts'
import { createLookup } from './http/lookup.ts'
import { createPostClient } from './http/post.ts'
import { createPostUnderLease } from './http/post-under-lease.ts'
import { createSigner } from './http/signer.ts'
import { createIsolation, type Isolation } from './isolation/isolate.ts'
import { LANE_DEPTH } from './longest-unacked.ts'
import { createNotices } from './notices/notices.ts'
import { startParkedLimiter } from './notices/parked-limits.ts'
import { createDeliver } from './pipeline/deliver.ts'
import { createAdmit } from './policy/admit.ts'
import { createBreaker } from './policy/cooldown.ts'
import { createReport } from './reporting/attempt-log.ts'
import { startContacts } from './reporting/contacts.ts'
import { createDeliveryMeter } from './reporting/delivery-meter.ts'
import { traceTurns } from './reporting/delivery-spans.ts'
import { retentionOf } from './retention.ts'

/** A lane is held up by its slowest subscription alone; the more lanes, the fewer share one. */
const LANES = 16
/** A few answers of an endpoint that is quick, on a busy worker. One that is slow costs its neighbours this once, not each time. */
const PATIENCE_MS = 250
/** What an attempt may take beside its deadline, before its worker counts as dead. */
const PROBE_SLACK_MS = 5_000

/** How fresh the times are that a subscription shows of its endpoint. */
const CONTACTS_EVERY_MS = 5_000
/** How soon parked deliveries beyond the limits are released. */
const PARKED_SWEEP_EVERY_MS = 5_000
/** Checks of receivers in hand; each is a few POSTs. */
const CHECKS = 5

const parse = ({ content, headers }: IncomingMessage) => parseDelivery(content, headers)

/** Monotonic, for leases. */
const nowMs = (): number => performance.now()

/** Starts every part of the worker, in the order of its dependencies. Resolves once it consumes. */
export async function startWorker(service: Service<WorkerConfig>): Promise<Running> {
  const { name, config, log, shutdown, metrics, tracing } = service
  const traced = traceTurns(tracing)
  let shards = config.DELIVERY_SHARDS
  const { redis, broker, installation, readiness } = await openBacking(service, {
    topology: async () => {
      shards = await countDueShards({ url: config.AMQP_URL, log, name, configured: config.DELIVERY_SHARDS })
      return serviceTopology([...config.DELIVERY_RETRY_WAITS, config.BREAKER_COOLDOWN], LANES, shards)
    },
  })
  const guard = createAddressGuard(config.WEBHOOK_ALLOWED_NETWORKS)
  const signer = createSigner({ vault: openVault(config, log), log, now: Date.now })
  const client = createPostClient({
    guard,
    sign: signer.headersOf,
    timeoutMs: config.DELIVERY_TIMEOUT,
    maxSockets: config.DELIVERY_CONCURRENCY + LANES * LANE_DEPTH * config.SUBSCRIPTION_CONCURRENCY,
    lookup: createLookup({ guard, timeoutMs: Math.ceil(config.DELIVERY_TIMEOUT / 4) }),
  })
  shutdown.defer('connections', () => client.close())

  const deliveries = createDeliveryStore(redis, retentionOf(config))
  const cooldownMs = config.BREAKER_COOLDOWN
  const breakers = createBreakerStore(redis, { failures: config.BREAKER_FAILURES, cooldownMs })
  const meter = createDeliveryMeter(metrics)
  const contacts = startContacts({ store: createContactStore(redis), everyMs: CONTACTS_EVERY_MS, log })
  shutdown.defer('contacts', () => contacts.stop())
  const subscriptions = createSubscriptionStore(redis, installation.verify)
  const archive = createDeliveryArchive(redis)
  const parkedLimits = createParkedLimitStore(redis, retentionOf(config))
  const notices = createNotices({
    isWanted: async (tenant, eventType) => (await subscriptions.matching(tenant, eventType)).length > 0,
    outages: createOutageStore(redis),
    parkedLimits,
    find: ({ deliveryId }) => archive.find(deliveryId),
    publish: meter.publishingNotice((event) => broker.publishEvent(event)),
    log,
  })
  const limiter = startParkedLimiter({
    store: parkedLimits,
    limits: { perSubscription: config.PARKED_LIMIT_PER_SUBSCRIPTION, perTenant: config.PARKED_LIMIT_PER_TENANT },
    everyMs: PARKED_SWEEP_EVERY_MS,
    notice: notices.parkedLimit,
    released: meter.parkedReleased,
    now: Date.now,
    log,
  })
  shutdown.defer('parked limits', () => limiter.stop())
  const admit = createAdmit({
    look: installation.foundBy(
      (delivery: Delivery) => breakers.look(delivery),
      ({ subscription }) => subscription !== undefined,
    ),
    canSign: signer.canSign,
    nowMs,
  })
  const post = createPostUnderLease({
    timeoutMs: config.DELIVERY_TIMEOUT,
    ...client,
    renew: admit,
    nowMs,
  })
  const deliverer = createDeliver({
    waitsMs: config.DELIVERY_RETRY_WAITS,
    cooldownMs,
    isSettled: (delivery) => deliveries.isSettled(delivery),
    admit,
    breaker: createBreaker(
      breakers,
      config.DELIVERY_TIMEOUT + PROBE_SLACK_MS,
      (subscriptionId) => {
        meter.cooldown()
        log.info('endpoint cools down', { subscriptionId, cooldownMs })
      },
      notices,
    ),
    post: meter.posting(traced.post(post)),
    retryLater: (delivery, waitMs) => broker.publishRetry(delivery, waitMs),
    park: limiter.parking(async (delivery, attempt, reason) => {
      await deliveries.park(delivery, attempt, reason)
      // Afterwards: Redis may have been emptied during the POST, and the record would be lost when it is restored.
      await installation.verify()
    }),
    noticeParked: notices.noticeParked,
    settle: (delivery, attempt, standing) => deliveries.settle(delivery, attempt, standing),
    keep: (delivery) => deliveries.keep(delivery),
    report: traced.report(contacts.reporting(meter.reporting(createReport(log)))),
    now: Date.now,
  })
  const isolation = createIsolation({
    cap: config.SUBSCRIPTION_CONCURRENCY,
    lanes: LANES,
    patienceMs: PATIENCE_MS,
    ...deliverer,
    moveAside: meter.movingAside((delivery, lane) => broker.publishAside(delivery, lane)),
  })
  const judged = installation.judged(parse)
  const consume = (queue: string, concurrency: number, handle: Isolation['due']): Promise<Consumer> => {
    const work = traced.handle(queue, handle)
    return broker.consume({ queue, parse: judged, handle: work, concurrency, recovered: installation.recovered })
  }
  const checks = createCheckStore(redis)
  const consumers = await Promise.all([
    broker.consume({
      queue: Queue.receiverChecks,
      parse: installation.judged(({ content }: IncomingMessage) => parseReceiverCheck(content)),
      handle: createCheckReceiver({
        find: ({ tenant, subscriptionId }) => subscriptions.find(tenant, subscriptionId),
        post: (delivery, attempt) => client.post(delivery, attempt),
        canSign: signer.canSign,
        save: (checkId, facts) => checks.save(checkId, facts),
        deadlineMs: config.DELIVERY_TIMEOUT,
        now: Date.now,
      }),
      concurrency: CHECKS,
      recovered: installation.recovered,
    }),
    ...dueQueues(shards).map((queue) => consume(queue, Math.ceil(config.DELIVERY_CONCURRENCY / shards), isolation.due)),
    ...laneQueues(LANES).map((lane) => consume(lane, LANE_DEPTH * config.SUBSCRIPTION_CONCURRENCY, isolation.fromLane)),
  ])
  shutdown.defer('consumers', async () => {
    const drained = consumers.map((consumer) => consumer.drain())
    isolation.stop()
    await Promise.all(drained)
  })

  return { readiness, details: { concurrency: config.DELIVERY_CONCURRENCY, shards } }
}
