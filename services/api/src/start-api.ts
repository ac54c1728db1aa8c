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
import { createEventList, createJournalReader } from '@switchhook/store'
import { createAgentRoutes } from './agents/agent-routes.ts'
import { createAuditFeature } from './audit/audit-feature.ts'
import { type KeyTiming, openAuth } from './auth/open-auth.ts'
import { createCallListRoutes } from './calls/call-list-routes.ts'
import { createCallRoutes } from './calls/call-routes.ts'
import { openContactCenter } from './center/open-contact-center.ts'
import { type ApiConfig, authOptionsOf } from './config.ts'
import { openConsole } from './console/open-console.ts'
import { createDeliveriesFeature } from './deliveries/deliveries-feature.ts'
import type { Base } from './feature.ts'
import { type IdempotencyTiming, openIdempotency } from './http/idempotency.ts'
import { confirmAbsence } from './http/server/confirm-absence.ts'
import { createApp } from './http/server/create-app.ts'
import { type ClientDeadlines, startHttpServer } from './http/server/http-server.ts'
import { createRequestScope, createRequestTrace } from './http/server/request-trace.ts'
import { openLimits } from './limits/open-limits.ts'
import { createLiveFeature } from './live/live-feature.ts'
import { createMeRoute, type InstalledFeatures } from './me/me-route.ts'
import { createOverviewFeature } from './overview/overview-feature.ts'
import { createRecoveriesFeature } from './recoveries/recoveries-feature.ts'
import { collectRoutes } from './routes.ts'
import { openState } from './state/state.ts'
import { createSubscriptionsFeature } from './subscriptions/subscriptions-feature.ts'
import { createTrialsFeature } from './trials/trials-feature.ts'

export interface StartApiOptions {
  readonly config: ApiConfig
  readonly log: Logger
  /** Closes in reverse order of `defer`. */
  readonly shutdown: Pick<Shutdown, 'defer'>
  readonly metrics: Metrics
  readonly tracing?: Tracing
  readonly keyTiming?: KeyTiming
  readonly deadlines?: ClientDeadlines
  readonly idempotencyTiming?: Partial<IdempotencyTiming>
}

export interface Api {
  readonly port: number
  /** Every request needs these. */
  readonly checks: Readonly<Record<'redis' | 'installation', () => boolean>>
  /**
   * The api works without these for a while: events wait in the outbox, a wrong clock shows in every process, and calls
   * continue without their platform's reports.
   */
  readonly optional: Readonly<Record<'rabbitmq' | 'clock' | 'platform', () => boolean>>
}

/** Composes the service from its features and starts it. Waits for Redis, but not for the broker. */
export async function startApi(options: StartApiOptions): Promise<Api> {
  const { config, log, shutdown, metrics, tracing = createContextOnly() } = options
  const { redis, broker, installation, readiness } = await openBacking(
    { name: 'api', config, log, shutdown, metrics },
    // The outbox relay drains a full Redis, and requests are accepted without the broker.
    {
      topology: () => serviceTopology([], { eventShards: config.EVENT_SHARDS }),
      redisMayBeFull: true,
      waitForBroker: false,
    },
  )
  const scope = createRequestScope()
  const publishDelivery = tracePublishDelivery(tracing, (delivery) => broker.publishDelivery(delivery))
  const vault = openVault(config, log)
  const journal = createJournalReader(redis, {
    size: config.EVENT_JOURNAL_SIZE,
    retentionMs: config.EVENT_JOURNAL_RETENTION,
  })
  const opened = { config, log, metrics, tracing, redis, broker, installation, vault, journal }
  const ofRequest = { traceOfRequest: scope.current, aheadOfRequest: scope.ahead }
  const base: Base = { ...opened, ...ofRequest, publishDelivery, now: Date.now }

  const state = await openState(base)
  shutdown.defer('outbox relay', () => state.relay.stop())
  const subscriptions = createSubscriptionsFeature(base)
  const deliveries = createDeliveriesFeature(base, subscriptions)
  const trials = createTrialsFeature(base, subscriptions, deliveries)
  const recoveries = createRecoveriesFeature(base, state, subscriptions)
  shutdown.defer('recoveries', recoveries.close)
  const overview = createOverviewFeature(base, subscriptions)
  const contactCenter = await openContactCenter(base, state)
  shutdown.defer('platform', contactCenter.close)
  const audit = createAuditFeature(base)
  const live = createLiveFeature(base)

  state.timers.start({ ...contactCenter.timers, ...recoveries.timers })
  shutdown.defer('timers', () => state.timers.stop())
  const auth = openAuth({ ...authOptionsOf(config), log, ...(options.keyTiming && { keyTiming: options.keyTiming }) })
  shutdown.defer('signing keys', () => auth.close())
  await subscriptions.resealSecrets()

  const webConsole = openConsole(config, log)
  const features: InstalledFeatures = {
    journal: config.EVENT_JOURNAL_SIZE > 0,
    simulator: contactCenter.developmentRoutes.length > 0,
    statistics: true,
    console: webConsole !== undefined,
  }
  const app = createApp({
    routes: collectRoutes({
      subscriptions,
      trials,
      deliveries,
      recoveries,
      live,
      overview,
      audit,
      calls: {
        routes: [
          ...createCallRoutes(contactCenter),
          ...createCallListRoutes({ ...contactCenter, events: createEventList(redis, journal) }),
        ],
      },
      agents: { routes: createAgentRoutes({ ...contactCenter, statusNames: config.USER_STATUS_CODES }) },
      me: { routes: [createMeRoute({ features })] },
      development: { routes: contactCenter.developmentRoutes },
    }),
    steps: {
      ...openLimits(config, redis, auth.authenticate),
      answerOnce: openIdempotency(base, options.idempotencyTiming),
      audit: confirmAbsence(audit.carryOut, installation.verify),
    },
    trustProxy: config.TRUST_PROXY,
    metrics,
    log,
    trace: createRequestTrace(tracing, scope),
    ...(webConsole && { console: webConsole }),
  })
  const { deadlines } = options
  const server = await startHttpServer({ port: config.API_PORT, listener: app, ...(deadlines && { deadlines }) })
  shutdown.defer('http', () => server.close())
  shutdown.defer('live stream', live.close)
  return {
    port: server.port,
    checks: { redis: readiness.redis, installation: readiness.installation },
    optional: { rabbitmq: readiness.rabbitmq, clock: readiness.clock, platform: contactCenter.isLinked },
  }
}
