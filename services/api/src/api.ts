import type { Service } from '@switchhook/service'
import { openBase } from './base.ts'
import type { ApiConfig } from './config.ts'
import { openContactCenter } from './contact-center/open-contact-center.ts'
import { FEATURES } from './features.ts'
import { openAudit } from './http/audit/audit-log.ts'
import type { KeyTiming } from './http/auth/key-cache.ts'
import { openAuth } from './http/auth/open-auth.ts'
import { openConsole } from './http/console/mount-console.ts'
import { openFeatures } from './http/feature.ts'
import { type IdempotencyTiming, openIdempotency } from './http/idempotency.ts'
import { createLimitClient } from './http/limits/limit-client.ts'
import { connectionLimitsOf } from './http/limits/limit-connections.ts'
import { createLimitExpensive } from './http/limits/limit-expensive.ts'
import { withDocument } from './http/openapi/document-routes.ts'
import { createApp } from './http/server/create-app.ts'
import { type ClientDeadlines, startHttpServer } from './http/server/http-server.ts'
import { observeRequests } from './http/server/observe-requests.ts'
import { isNotFound } from './http/server/problem-handler.ts'
import { startNotingUptime } from './state/note-uptime.ts'
import { openState } from './state/state.ts'
import { deliveryWebhook } from './webhooks/deliveries/delivery-webhook.ts'
import { openStores } from './webhooks/stores.ts'

export interface StartApiOptions extends Service<ApiConfig> {
  readonly keyTiming?: KeyTiming
  readonly deadlines?: ClientDeadlines
  readonly idempotencyTiming?: Partial<IdempotencyTiming>
}

export type Api = Awaited<ReturnType<typeof startApi>>

/** Composes the service from its features and starts it. Waits for Redis, but not for the broker. */
export async function startApi(options: StartApiOptions) {
  const { config, log, shutdown, metrics, tracing } = options
  const { base, readiness, requestTraces } = await openBase(options)
  const { redis, installation } = base
  const state = await openState(base)
  shutdown.defer('outbox relay', state.stopRelay)
  const contactCenter = await openContactCenter(base, state)
  shutdown.defer('platform', contactCenter.close)
  const auditLog = openAudit(config, redis, log)
  shutdown.defer('audit log', auditLog.close)
  const auth = openAuth(config, log, options.keyTiming)
  shutdown.defer('signing keys', () => auth.close())
  const installed = { journal: config.EVENT_JOURNAL_SIZE > 0, simulator: contactCenter.simulator !== null }
  const parts = { ...base, ...openStores(base), state, contactCenter, auditLog, auth, installed }
  const features = await openFeatures(FEATURES, parts)
  shutdown.defer('features', features.close)

  state.timers.start({ ...contactCenter.timers, ...features.timers })
  shutdown.defer('timers', () => state.timers.stop())

  const app = createApp({
    routes: withDocument(features.routes, deliveryWebhook),
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
    config,
    log,
    observe: observeRequests({ log, metrics, tracing, requestTraces }),
    console: openConsole(config, log),
  })
  const server = await startHttpServer(config.API_PORT, app, {
    host: config.LISTEN_HOST,
    deadlines: options.deadlines,
    limits: connectionLimitsOf(config),
  })
  shutdown.defer('http', () => server.close())
  shutdown.defer('streams', features.endRequests)
  const uptime = startNotingUptime(parts.uptime, readiness.installation)
  shutdown.defer('uptime', uptime.stop)
  return {
    /** Every request needs these. */
    readiness: { redis: readiness.redis, installation: readiness.installation },
    /**
     * The api works without these for a while: events wait in the outbox, a wrong clock shows in every process, and calls
     * continue without their platform's reports.
     */
    optional: { rabbitmq: readiness.rabbitmq, clock: readiness.clock, platform: contactCenter.isLinked },
    details: { port: server.port },
  }
}
