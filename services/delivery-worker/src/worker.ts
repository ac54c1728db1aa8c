import { parseOutcomeBatch, parseReceiverCheck } from '@switchhook/contracts'
import { countShards, dueQueues, LANES, Queue, serviceTopology } from '@switchhook/messaging'
import { amqpAddress, startDeadline, startPoll } from '@switchhook/runtime'
import { openBacking, type Running, type Service } from '@switchhook/service'
import {
  createBreakerStore,
  createCheckStore,
  createDeliveryArchive,
  createDeliveryStore,
  createHeldLooks,
  createHeldStore,
  createLimitNotices,
  createOutageStore,
  createOutcomeStore,
  createPermitStore,
  createRejectionStore,
  createStateStore,
  createSubscriptionStore,
  type Endpoint,
} from '@switchhook/store'
import { CONCURRENT_CHECKS, createCheckReceiver } from './checks/check-receiver.ts'
import type { Clocks } from './clocks.ts'
import { limitsOf, retentionOf, type WorkerConfig } from './config.ts'
import { consumeDeliveries, mostPosts } from './consume-deliveries.ts'
import { createAdmit } from './endpoint/admit.ts'
import { createBreaker } from './endpoint/cooldown.ts'
import { createIsolation } from './endpoint/isolate.ts'
import { createRecoverRejected } from './endpoint/recover-rejected.ts'
import { createLookAtHeld } from './held/look-at-held.ts'
import { createParkExcess } from './held/park-excess.ts'
import { CONCURRENT_BATCHES, createRecordOutcomes } from './held/record-outcomes.ts'
import { createEndpointClient } from './http/endpoint-client.ts'
import { createPostUnderLease, type Renew } from './http/post-under-lease.ts'
import { createLimits } from './limits/limits.ts'
import { createNotices } from './notices/notices.ts'
import type { DeliverDeps } from './pipeline/steps.ts'
import { postponementsMs } from './policy/decide.ts'
import { startReporting } from './reporting/start-reporting.ts'

/**
 * The share of a worker's deliveries that quick endpoints may take beyond their `SUBSCRIPTION_CONCURRENCY`. If they stop
 * answering, the rest is left to all others until the deadline.
 */
const QUICK_SHARE = 0.5
/** The share of a worker's deliveries that may hang of one tenant: a quarter of the packets that a worker receives. */
const TENANT_SHARE = 0.125
/** How long an attempt may take beyond its deadline before its worker counts as dead. */
const PROBE_SLACK_MS = 5_000
const HELD_LOOKS_EVERY_MS = 1_000

/** Starts the parts of the worker in the order of their dependencies. Resolves once it consumes. */
export async function startWorker(service: Service<WorkerConfig>): Promise<Running> {
  const { name, config, log, shutdown } = service
  const cooldownMs = config.BREAKER_COOLDOWN
  const deadlineMs = config.DELIVERY_TIMEOUT
  let shards = config.DELIVERY_SHARDS
  const { redis, broker, installation, consume, readiness, redisNow } = await openBacking(service, {
    topology: async () => {
      const deliveryShards = config.DELIVERY_SHARDS
      shards = await countShards({ ...amqpAddress(config), log, name, configured: deliveryShards, namesOf: dueQueues })
      const waitsMs = [...config.DELIVERY_RETRY_WAITS, cooldownMs]
      return serviceTopology(waitsMs, { lanes: LANES, deliveryShards, packetShards: shards, others: dueQueues(shards) })
    },
  })
  const breakers = createBreakerStore(redis, { failures: config.BREAKER_FAILURES, cooldownMs })
  const subscriptions = createSubscriptionStore(redis, installation.verify)

  const clocks: Clocks = { now: redisNow, nowMs: () => performance.now() }
  const client = createEndpointClient(config, mostPosts(config), log, clocks.now)
  shutdown.defer('connections', () => client.close())
  const reporting = startReporting(service, redis)
  shutdown.defer('reporting', reporting.stop)
  const { listener, meter } = reporting
  const deliveries = createDeliveryStore(redis, retentionOf(config), {
    ...limitsOf(config),
    released: (released) => {
      meter.parkedReleased(released)
      log.info('parked deliveries exceed their limit', { ...released })
    },
  })
  const archive = createDeliveryArchive(redis)
  const notices = createNotices({
    isWanted: async (tenant, eventType) => (await subscriptions.matching(tenant, eventType)).length > 0,
    outages: createOutageStore(redis),
    parkedLimits: createLimitNotices(redis, 'parked'),
    heldLimits: createLimitNotices(redis, 'held'),
    find: ({ deliveryId }) => archive.find(deliveryId),
    publish: (event) => broker.publishEvent(event),
    published: meter.noticePublished,
    log,
  })

  const breaker = createBreaker(
    breakers,
    deadlineMs + PROBE_SLACK_MS,
    (subscriptionId, pauseMs) => {
      meter.cooldown()
      log.info('cool-down began', { subscriptionId, cooldownMs, ...(pauseMs !== undefined && { pauseMs }) })
    },
    notices,
    postponementsMs({ waitsMs: config.DELIVERY_RETRY_WAITS, cooldownMs }).reduce((sum, waitMs) => sum + waitMs, 0),
  )
  const look = installation.confirmAbsence(
    async (endpoint: Endpoint) => {
      const found = await breakers.look(endpoint)
      reporting.noteListened(endpoint.tenant, found.isListened)
      return found
    },
    (found) => found.status === 'fulfilled' && found.value.subscription === undefined,
  )
  const admit = createAdmit({
    look,
    isFailing: breaker.isFailing,
    canSign: client.canSign,
    findRemoved: (...asked) => subscriptions.findRemoved(...asked),
    ...clocks,
  })
  const isolation = createIsolation({
    turns: {
      least: config.SUBSCRIPTION_CONCURRENCY,
      most: config.SUBSCRIPTION_CONCURRENCY_QUICK,
      beyondLeast: Math.floor(config.DELIVERY_CONCURRENCY * QUICK_SHARE),
    },
    mostHanging: Math.floor(config.DELIVERY_CONCURRENCY * TENANT_SHARE),
    publishToLane: broker.publishAside,
    movedToLane: meter.movedToLane,
    nowMs: clocks.nowMs,
  })
  const listed = createHeldStore(redis)
  // A Redis that was emptied has no messages: an outcome must not count as recorded, nor an entry as settled.
  const read = installation.confirmAbsence(
    (...ids: Parameters<typeof listed.read>) => listed.read(...ids),
    (found) => found.status === 'fulfilled' && found.value.includes(undefined),
  )
  const held = { ...listed, read }
  const park: DeliverDeps['park'] = async (...parked) => {
    await deliveries.park(...parked)
    // Redis may have been emptied during the POST. Then the record would be lost when Redis is restored.
    await installation.verify()
  }
  const { noticeParked } = notices
  const parkExcess = createParkExcess({ held, archive, park, noticeParked, log })
  const permits = createPermitStore(redis, deadlineMs + PROBE_SLACK_MS)
  const limits = createLimits({ ...broker, permits, held, log, ...clocks })
  shutdown.defer('limits', () => limits.ended())
  const postUnderLease = (renew: Renew) =>
    createPostUnderLease({ ...client, startDeadline: () => startDeadline(deadlineMs), renew, ...clocks })
  const steps: DeliverDeps = {
    waitsMs: config.DELIVERY_RETRY_WAITS,
    cooldownMs,
    isolation,
    ...deliveries,
    admit,
    breaker,
    post: postUnderLease(admit),
    limits,
    listener,
    retryLater: broker.publishRetry,
    park,
    parkExcess,
    listAgain: async (...listed) => parkExcess(await deliveries.listAgain(...listed)),
    noticeParked,
    ...createRecoverRejected(archive, createRejectionStore(redis), createStateStore(redis)),
    ...clocks,
  }
  const lookAtHeld = createLookAtHeld({
    worker: steps,
    held,
    archive,
    looks: createHeldLooks(redis),
    endpoint: look,
    publish: broker.publishBacklogged,
    limits,
    noticeLimit: notices.noticeHeldLimit,
    waiting: async () => {
      const [backlog, ...due] = await broker.lookAt([Queue.deliveryBacklog, ...dueQueues(shards)])
      return { backlog: backlog?.ready ?? 0, due: due.reduce((sum, queue) => sum + (queue?.ready ?? 0), 0) }
    },
    log,
  })
  const heldLooks = startPoll(HELD_LOOKS_EVERY_MS, lookAtHeld)
  shutdown.defer('held deliveries', () => heldLooks.stop())

  const checks = createCheckStore(redis)
  const checkReceiver = createCheckReceiver({
    client,
    // A check relies on what it read when it began.
    post: postUnderLease(async (admitted) => ({ admitted, trustedUntilMs: Infinity })),
    limits,
    subscriptions,
    checks,
    deadlineMs,
    ...clocks,
  })
  const recordOutcomes = createRecordOutcomes({ worker: steps, held, archive, outcomes: createOutcomeStore(redis) })
  const consumers = await Promise.all([
    consume(Queue.receiverChecks, CONCURRENT_CHECKS, ({ content }) => parseReceiverCheck(content), checkReceiver),
    consume(Queue.reportedOutcomes, CONCURRENT_BATCHES, ({ content }) => parseOutcomeBatch(content), recordOutcomes),
    consumeDeliveries({ config, broker, consume, isolation, worker: steps, traced: reporting.traced, shards, log }),
  ])
  shutdown.defer('consumers', async () => void (await Promise.all(consumers.map((consumer) => consumer.drain()))))
  return { readiness, details: { concurrency: config.DELIVERY_CONCURRENCY, shards } }
}
