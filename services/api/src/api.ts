import { AsyncLocalStorage } from 'node:async_hooks'
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
import { createJournalReader, createSubscriptionStore } from '@switchhook/store'
import type { Base } from './base.ts'
import type { ApiConfig } from './config.ts'
import { openContactCenter } from './contact-center/open-contact-center.ts'
import { FEATURES, WEBHOOKS } from './features.ts'
import { openAudit } from './http/audit/audit-log.ts'
import { type KeyTiming, openAuth } from './http/auth/open-auth.ts'
import { openConsole } from './http/console/mount-console.ts'
import { openFeatures } from './http/feature.ts'
import { type IdempotencyTiming, openIdempotency } from './http/idempotency.ts'
import { createLimitClient } from './http/limits/limit-client.ts'
import { createLimitExpensive } from './http/limits/limit-expensive.ts'
import { withDocument } from './http/openapi/document-routes.ts'
import { createApp } from './http/server/create-app.ts'
import { type ClientDeadlines, startHttpServer } from './http/server/http-server.ts'
import { observeRequests } from './http/server/observe-requests.ts'
import { isNotFound } from './http/server/problem-handler.ts'
import { openState } from './state/state.ts'
import { openStores } from './webhooks/stores.ts'

export interface StartApiOptions {
  readonly config: ApiConfig
  readonly log: Logger
  readonly shutdown: Pick<Shutdown, 'defer'>
  readonly metrics: Metrics
  readonly tracing?: Tracing
  readonly keyTiming?: KeyTiming
  readonly deadlines?: ClientDeadlines
  readonly idempotencyTiming?: Partial<IdempotencyTiming>
}

export type Api = Awaited<ReturnType<typeof startApi>>

/** Composes the service from its features and starts it. Waits for Redis, but not for the broker. */
export async function startApi(options: StartApiOptions) {
  const { config, log, shutdown, metrics, tracing = createContextOnly() } = options
  const { redis, broker, installation, now, readiness } = await openBacking(
    { name: 'api', config, log, shutdown, metrics },
    // The outbox relay drains a full Redis, and requests are accepted without the broker.
    {
      topology: () => serviceTopology([], { eventShards: config.EVENT_SHARDS }),
      redisMayBeFull: true,
      waitForBroker: false,
    },
  )
  const traceOfRequest = new AsyncLocalStorage<string>()
  const publishTraced = tracePublishDelivery(tracing, (delivery) => broker.publishDelivery(delivery))
  const publishDelivery: Base['publishDelivery'] = (delivery) => {
    const traceparent = traceOfRequest.getStore()
    return publishTraced({ ...delivery, ...(traceparent !== undefined && { traceparent }) })
  }
  const vault = openVault(config, log)
  const journal = createJournalReader(redis, {
    size: config.EVENT_JOURNAL_SIZE,
    retentionMs: config.EVENT_JOURNAL_RETENTION,
  })
  const opened = { config, log, metrics, tracing, redis, broker, installation, vault, journal, now }
  const subscriptions = createSubscriptionStore(redis, installation.verify, {
    mostPerTenant: config.SUBSCRIPTION_LIMIT_PER_TENANT,
  })
  const base: Base = { ...opened, traceOfRequest: () => traceOfRequest.getStore(), subscriptions, publishDelivery }

  const state = await openState(base)
  shutdown.defer('outbox relay', () => state.relay.stop())
  const contactCenter = await openContactCenter(base, state)
  shutdown.defer('platform', contactCenter.close)
  const auditLog = openAudit(config, redis, log)
  shutdown.defer('audit log', auditLog.close)
  const webConsole = openConsole(config, log)
  const installed = {
    journal: config.EVENT_JOURNAL_SIZE > 0,
    simulator: contactCenter.simulator !== null,
    statistics: true,
    console: webConsole !== undefined,
  }
  const parts = { ...base, ...openStores(base), state, contactCenter, auditLog, installed }
  const features = await openFeatures(FEATURES, parts)
  shutdown.defer('features', features.close)

  state.timers.start({ ...contactCenter.timers, ...features.timers })
  shutdown.defer('timers', () => state.timers.stop())
  const auth = openAuth(config, log, options.keyTiming)
  shutdown.defer('signing keys', () => auth.close())

  const app = createApp({
    routes: withDocument(features.routes, WEBHOOKS),
    steps: {
      authenticate: auth.authenticate,
      limitClient: createLimitClient(config, redis),
      limitExpensive: createLimitExpensive(),
      answerOnce: openIdempotency(base, options.idempotencyTiming),
      // An emptied Redis finds nothing either, so every 404 is confirmed before it is answered or stored.
      audit: installation.confirmAbsence(
        auditLog.carryOut,
        (handled) => handled.status === 'rejected' && isNotFound(handled.reason),
      ),
    },
    trustProxy: config.TRUST_PROXY,
    corsOrigins: config.CORS_ORIGINS,
    log,
    observe: observeRequests({ log, metrics, tracing, traceOfRequest }),
    ...(webConsole && { console: webConsole }),
  })
  const server = await startHttpServer(config.API_PORT, app, options.deadlines)
  shutdown.defer('http', () => server.close())
  shutdown.defer('streams', features.endRequests)
  return {
    port: server.port,
    /** Every request needs these. */
    checks: { redis: readiness.redis, installation: readiness.installation },
    /**
     * The api works without these for a while: events wait in the outbox, a wrong clock shows in every process, and calls
     * continue without their platform's reports.
     */
    optional: { rabbitmq: readiness.rabbitmq, clock: readiness.clock, platform: contactCenter.isLinked },
  }
}
