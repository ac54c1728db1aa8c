import { dueQueues, LANES, laneQueues, packetQueues, serviceTopology } from '@switchhook/messaging'
import { openBacking, type Running, type Service } from '@switchhook/service'
import {
  createBreakerStore,
  createCheckStore,
  createConfirmedHeldStore,
  createDeliveryArchive,
  createDeliveryStore,
  createKeptCounts,
  createLimitNotices,
  createMatching,
  createOutageStore,
  createPermitStore,
  createRejectionStore,
  createStateStore,
  createSubscriptionStore,
} from '@switchhook/store'
import { boundsOf } from './bounds.ts'
import { consumeChecks, createCheckReceiver } from './checks/check-receiver.ts'
import { keptLimitsOf, maxAttemptMs, retentionOf, storageLimitsOf, type WorkerConfig } from './config.ts'
import { startConsuming } from './consume.ts'
import { createAdmit, createReadEndpoint } from './endpoint/admit.ts'
import { createBreaker } from './endpoint/breaker.ts'
import { createIsolation } from './endpoint/isolation.ts'
import { createHeldLimit } from './held/held-limit.ts'
import { consumeOutcomes, createRecordOutcomes } from './held/record-outcomes.ts'
import { startVisits } from './held/visit-held.ts'
import { createEndpointClient } from './http/post.ts'
import { createPostLimits } from './limits/post-limits.ts'
import { startTenantLimits } from './limits/tenant-limits.ts'
import { createNotices } from './notices/notices.ts'
import { startObservers } from './observers/start-observers.ts'
import { createPipeline } from './pipeline/pipeline.ts'
import { createRecoverRejected } from './pipeline/recover-rejected.ts'
import { waitsOf } from './policy/decide.ts'

/** Starts the parts of the worker in the order of their dependencies. Resolves once it consumes. */
export async function startWorker(service: Service<WorkerConfig>): Promise<Running> {
  const { config, log, shutdown } = service
  const schedule = { waitsMs: config.DELIVERY_RETRY_WAITS, cooldownMs: config.BREAKER_COOLDOWN }
  // Of each delivery, for the ledger, the breaker and `decide`: a schedule per subscription would be another function here.
  const scheduleOf = () => schedule
  const { redis, broker, installation, consume, readiness, redisNow, shards } = await openBacking(service, {
    sharded: { configured: config.DELIVERY_SHARDS, namesOf: dueQueues },
    topology: (present) =>
      serviceTopology(waitsOf(schedule), {
        deliveryShards: config.DELIVERY_SHARDS,
        others: [...dueQueues(present), ...packetQueues(present), ...laneQueues(LANES)],
      }),
  })
  const clocks = { redisNow, nowMs: () => performance.now() }
  const bounds = boundsOf(config, shards)
  const client = createEndpointClient({ config, maxSockets: bounds.posts, log, ...clocks })
  const observers = startObservers(service, redis)
  const { traced, observer } = observers
  // Workers write no subscription, so no limit is needed.
  const subscriptions = createSubscriptionStore(redis, installation.verify, {})
  const storageLimits = { ...storageLimitsOf(config), released: observers.parkedReleased }
  const { keep, stop: stopLimits } = startTenantLimits({
    counts: createKeptCounts(redis, config.DELIVERY_RETENTION),
    limits: keptLimitsOf(config),
    log,
    ...clocks,
  })
  const retention = { ...retentionOf(config), scheduleOf, keep }
  const deliveries = createDeliveryStore(redis, retention, storageLimits, installation.verify)
  const archive = createDeliveryArchive(redis)
  const notices = createNotices({
    broker,
    matching: createMatching(redis, installation.verify),
    outages: createOutageStore(redis),
    parkedLimitNotices: createLimitNotices(redis, 'parked'),
    heldLimitNotices: createLimitNotices(redis, 'held'),
    archive,
    published: observers.meter.noticePublished,
    log,
  })
  const breakers = createBreakerStore(redis, { failures: config.BREAKER_FAILURES, cooldownMs: schedule.cooldownMs })
  const breaker = createBreaker({
    store: breakers,
    maxAttemptMs: maxAttemptMs(config),
    opened: observers.coolDownBegan,
    notices,
    scheduleOf,
  })
  const readEndpoint = createReadEndpoint({ breakers, installation, listened: observers.listened })
  const admit = createAdmit({
    readEndpoint,
    isFailing: breaker.isFailing,
    canSign: client.canSign,
    findRemoved: (endpoint) => subscriptions.findRemoved(endpoint),
    ...clocks,
  })
  const { publishToLane } = broker
  const isolation = createIsolation({ ...bounds, publishToLane, movedToLane: observers.meter.movedToLane, ...clocks })
  const held = createConfirmedHeldStore(redis, installation)
  const heldLimit = createHeldLimit({ held, deliveries, notices, log })
  const permits = createPermitStore(redis, maxAttemptMs(config))
  const postLimits = createPostLimits({ broker, permits, held, log, ...clocks })
  const recoverRejected = createRecoverRejected(archive, createRejectionStore(redis), createStateStore(redis))
  const { deliver, conclude } = createPipeline({
    ...clocks,
    scheduleOf,
    keep,
    admit,
    breaker,
    isolation,
    deliveries,
    broker,
    postLimits,
    post: client.postUnderLease(admit),
    observer,
    afterSettled: [heldLimit.afterSettled, recoverRejected, notices.afterSettled],
  })
  const ofHeld = { held, conclude, heldLimit, notices }
  const recordOutcomes = createRecordOutcomes(ofHeld)
  const check = createCheckReceiver({ client, postLimits, subscriptions, checks: createCheckStore(redis), redisNow })
  const visits = startVisits({ ...ofHeld, broker, shards, readEndpoint, postLimits, log, redisNow })

  // Stopped in the reverse order.
  shutdown.defer('connections', () => client.close())
  shutdown.defer('reporting', () => Promise.all([observers.stop(), stopLimits()]))
  shutdown.defer('limits', () => postLimits.ended())
  shutdown.defer('held deliveries', visits.stop)
  const consumers = await Promise.all([
    startConsuming({ consume, broker, bounds, shards, isolation, traced, deliver, log, ...clocks }),
    consumeChecks(consume, check),
    consumeOutcomes(consume, recordOutcomes),
  ])
  shutdown.defer('consumers', () => Promise.all(consumers.map((consumer) => consumer.drain())))
  return { readiness, details: { concurrency: config.DELIVERY_CONCURRENCY, shards } }
}
