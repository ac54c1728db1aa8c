import { hostname } from 'node:os'
import { serviceTopology } from '@switchhook/messaging'
import {
  createContextOnly,
  type Logger,
  type Metrics,
  type Shutdown,
  type Tracing,
  tracePublishDelivery,
} from '@switchhook/runtime'
import { openBacking } from '@switchhook/service'
import { openVault } from '@switchhook/signing'
import {
  createAuditStore,
  createBreakerReader,
  createCheckStore,
  createContactStore,
  createDeliveryArchive,
  createDeliveryLogReader,
  createEventList,
  createIdempotencyStore,
  createOutbox,
  createParkedCounter,
  createParkedWindow,
  createStateStore,
  createSubscriptionStore,
  createTimerStore,
} from '@switchhook/store'
import { createAudit } from './audit/audit-log.ts'
import { type KeyTiming, openAuth } from './auth/open-auth.ts'
import { createCenter } from './center/center.ts'
import { readAgent } from './center/read-agent.ts'
import { type ApiConfig, authOptionsOf, tenantsOf, urlRulesOf } from './config.ts'
import { createAnswerOnce, IDEMPOTENCY_TIMING, type IdempotencyTiming } from './http/idempotency.ts'
import { confirmAbsence } from './http/server/confirm-absence.ts'
import { createApp } from './http/server/create-app.ts'
import { type ClientDeadlines, startHttpServer } from './http/server/http-server.ts'
import { createRequestScope, createRequestTrace } from './http/server/request-trace.ts'
import { openLimits } from './limits/open-limits.ts'
import { openSimulator } from './platform/simulator/open-simulator.ts'
import { createRecoveries } from './recoveries/recoveries-feature.ts'
import { createRecoveryMeter } from './recoveries/recovery-meter.ts'
import { createRoutes } from './routes.ts'
import { showBacklogs, showRedisMemory } from './state/backlogs.ts'
import { countTimers } from './state/count-timers.ts'
import { type OutboxRelay, startOutboxRelay } from './state/outbox-relay.ts'
import { createPublishEvent } from './state/publish-event.ts'
import { createCenterMeter } from './state/state-meter.ts'
import { createTimerLoop, type TimerLoop } from './state/timer-loop.ts'
import { createTransact, type Writing } from './state/transact.ts'
import { resealSecrets } from './subscriptions/reseal-secrets.ts'
import { createSubscriptionSecrets } from './subscriptions/subscription-secrets.ts'

export interface StartApiOptions {
  readonly config: ApiConfig
  readonly log: Logger
  /** What is opened here is closed by it. */
  readonly shutdown: Pick<Shutdown, 'defer'>
  readonly metrics: Metrics
  readonly tracing?: Tracing
  readonly keyTiming?: KeyTiming
  readonly deadlines?: ClientDeadlines
  readonly idempotencyTiming?: Partial<IdempotencyTiming>
}

export interface Api {
  readonly port: number
  /** What requests need. */
  readonly checks: Readonly<Record<'redis' | 'installation', () => boolean>>
  /** What the api can do without for a while: events wait in the outbox, and a wrong clock shows in every process. */
  readonly withoutWhich: Readonly<Record<'rabbitmq' | 'clock', () => boolean>>
}

/** Puts the service together and starts it. Waits for a Redis that is not there yet, but not for the broker. */
export async function startApi(options: StartApiOptions): Promise<Api> {
  const { config, log, shutdown, metrics, tracing = createContextOnly() } = options
  const { keyTiming, deadlines, idempotencyTiming } = options
  const scope = createRequestScope()
  const { redis, broker, installation, readiness } = await openBacking(
    { name: 'api', config, log, shutdown, metrics },
    // The outbox relay drains a full Redis, and requests are accepted without the broker.
    { topology: () => serviceTopology([]), redisMayBeFull: true, waitForBroker: false },
  )

  const outbox = createOutbox(redis, `${hostname()}-${process.pid}`)
  // Housekeeping: a start does not depend on it, and the next start does it again.
  await outbox.removeIdleRelays().catch((error: unknown) => log.warn('idle relays were not removed', { error }))
  const meter = createCenterMeter(metrics)
  const publish = createPublishEvent({ publish: (event) => broker.publishEvent(event), tracing, log })
  const relay = startOutboxRelay({ outbox: meter.relaying(outbox), publish, log })
  shutdown.defer('outbox relay', () => relay.stop())

  const store = createStateStore(redis)
  const timerStore = createTimerStore(redis)
  const timers = createTimerLoop(timerStore, log)
  showBacklogs(metrics, outbox, timerStore)
  showRedisMemory(metrics, redis)
  const platform = openSimulator({
    agents: config.SIMULATOR_AGENTS,
    scenario: config.SIMULATOR_SCENARIO ?? null,
    store,
    liveCalls: async (tenant, agentUri) => {
      const { calls } = await readAgent(store, tenant, agentUri)
      return calls.map(({ callId }) => callId)
    },
    expectTimer: (dueInMs) => timers.expect(dueInMs),
    log,
    now: Date.now,
  })
  const center = createCenter({
    store,
    transact: createTransact(
      store,
      (written) => {
        meter.written(written)
        announce(written, relay, timers)
      },
      scope.current,
    ),
    platform,
    wrapUpMs: config.WRAP_UP_SECONDS * 1_000,
    now: Date.now,
    traceOfRequest: scope.current,
  })
  const breakers = createBreakerReader(redis)
  const deliveries = createDeliveryArchive(redis)
  const publishDelivery = tracePublishDelivery(tracing, (delivery) => broker.publishDelivery(delivery))
  const parked = createParkedWindow(redis)
  const parkedCounter = createParkedCounter(redis)
  const recoveries = createRecoveries({
    store,
    committed: (written) => announce(written, relay, timers),
    look: (endpoint) => breakers.look(endpoint),
    parked,
    deliveries,
    publish: publishDelivery,
    mostPerSecond: config.RECOVERY_RATE,
    now: Date.now,
    meter: createRecoveryMeter(metrics),
    log,
  })
  shutdown.defer('recoveries', () => recoveries.driver.idle())
  await platform.start(center.listener)
  shutdown.defer('platform', () => platform.stop())
  timers.start(
    countTimers(metrics, {
      simulator: (timer) => platform.due(timer),
      agent: (timer) => center.agentTimerDue(timer),
      audit: (timer) => center.auditTimerDue(timer),
      recovery: (timer) => recoveries.driver.timerDue(timer),
    }),
  )
  shutdown.defer('timers', () => timers.stop())

  const auth = openAuth({ ...authOptionsOf(config), log, ...(keyTiming && { keyTiming }) })
  shutdown.defer('signing keys', () => auth.close())
  const vault = openVault(config, log)
  const subscriptions = createSubscriptionStore(redis, installation.verify)
  await resealSecrets({ subscriptions, vault, tenants: tenantsOf(config), log, nowMs: Date.now() })
  const contacts = createContactStore(redis)
  const auditLog = createAuditStore(redis, { entries: config.AUDIT_LOG_SIZE, retentionMs: config.AUDIT_RETENTION })
  const routes = createRoutes({
    subscriptions,
    deliveries,
    deliveryLog: createDeliveryLogReader(redis),
    events: createEventList(redis),
    publishDelivery: (delivery) => publishDelivery({ ...delivery, ...traceOf(scope.current()) }),
    recoveries: recoveries.book,
    parked,
    parkedCount: (subscriptionId) => parkedCounter.count(subscriptionId),
    parkedLimit: config.PARKED_LIMIT_PER_SUBSCRIPTION,
    parkedOf: async ({ id }) => ({
      ...(await parkedCounter.count(id)),
      limit: config.PARKED_LIMIT_PER_SUBSCRIPTION,
    }),
    urlRules: urlRulesOf(config),
    secrets: createSubscriptionSecrets(vault),
    signatureOverlapMs: config.SIGNATURE_OVERLAP,
    healthOf: async ({ tenant, id }) => {
      const endpoint = { tenant, subscriptionId: id }
      const [health, contact] = await Promise.all([breakers.ask(endpoint), contacts.find(endpoint)])
      return { ...health, ...contact }
    },
    publishCheck: (check) => broker.publishCheck(check),
    checks: createCheckStore(redis),
    checkTimeoutMs: config.RECEIVER_CHECK_TIMEOUT,
    platform,
    center,
    auditLog,
    statusNames: config.USER_STATUS_CODES,
    simulator: config.NODE_ENV === 'production' ? null : platform,
    now: Date.now,
  })
  const forgottenKeys = metrics
    .counter(
      'switchhook_idempotency_keys_forgotten_total',
      'Idempotency keys that were forgotten before their time, because their client sent more than are kept.',
    )
    .of({})
  const timing = { ...IDEMPOTENCY_TIMING, ...idempotencyTiming }
  const app = createApp({
    routes,
    passage: {
      ...openLimits(config, redis, auth.authenticate),
      answerOnce: createAnswerOnce(
        createIdempotencyStore(redis, timing, {
          requestsPerClient: config.IDEMPOTENCY_LIMIT_PER_CLIENT,
          forgotten: (count) => forgottenKeys.add(count),
        }),
        timing.waitMs,
        vault,
        log,
      ),
      audit: confirmAbsence(
        createAudit((...entry) => auditLog.append(...entry), log),
        installation.verify,
      ),
    },
    trustProxy: config.TRUST_PROXY,
    metrics,
    log,
    trace: createRequestTrace(tracing, scope),
  })
  const server = await startHttpServer({ port: config.API_PORT, listener: app, ...(deadlines && { deadlines }) })
  shutdown.defer('http', () => server.close())

  return {
    port: server.port,
    checks: { redis: readiness.redis, installation: readiness.installation },
    withoutWhich: { rabbitmq: readiness.rabbitmq, clock: readiness.clock },
  }
}

/** What was written is acted on at once, by this process. */
function announce({ events = [], timers = [] }: Writing, relay: OutboxRelay, loop: TimerLoop): void {
  if (events.length > 0) relay.nudge()
  for (const { dueInMs } of timers) loop.expect(dueInMs)
}

const traceOf = (traceparent: string | undefined) => (traceparent === undefined ? {} : { traceparent })
