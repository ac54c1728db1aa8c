import { hostname } from 'node:os'
import { openBroker, serviceTopology } from '@switchhook/messaging'
import type { Logger, Shutdown } from '@switchhook/runtime'
import {
  assertDurableInProduction,
  createDeliveryArchive,
  createIdempotencyStore,
  createOutbox,
  createStateStore,
  createSubscriptionStore,
  createTimerStore,
  openRedis,
} from '@switchhook/store'
import { type KeyTiming, openAuth } from './auth/open-auth.ts'
import { createCallBook } from './calls/call-book.ts'
import { type ApiConfig, authOptionsOf, urlRulesOf } from './config.ts'
import { createApp } from './http/create-app.ts'
import { type ClientDeadlines, startHttpServer } from './http/http-server.ts'
import { createAnswerOnce, IDEMPOTENCY_TIMING, type IdempotencyTiming } from './http/idempotency.ts'
import { startOutboxRelay } from './outbox-relay.ts'
import { openSimulator } from './platform/open-simulator.ts'
import { createRoutes } from './routes.ts'

export interface StartApiOptions {
  readonly config: ApiConfig
  readonly log: Logger
  /** What is opened here is closed by it. */
  readonly shutdown: Pick<Shutdown, 'defer'>
  readonly keyTiming?: KeyTiming
  readonly deadlines?: ClientDeadlines
  readonly idempotencyTiming?: Partial<IdempotencyTiming>
}

export interface Api {
  readonly port: number
  readonly checks: { readonly redis: () => boolean; readonly rabbitmq: () => boolean }
}

/** Puts the service together and starts it. Waits for a Redis and a broker that are not there yet. */
export async function startApi(options: StartApiOptions): Promise<Api> {
  const { config, log, shutdown, keyTiming, deadlines, idempotencyTiming } = options
  const redis = await openRedis({ url: config.REDIS_URL, log, name: 'api' })
  shutdown.defer('redis', () => redis.close())
  await assertDurableInProduction(redis, config.NODE_ENV)
  const broker = await openBroker({ url: config.AMQP_URL, topology: serviceTopology([]), log, name: 'api' })
  shutdown.defer('broker', () => broker.close())

  const outbox = createOutbox(redis, `${hostname()}-${process.pid}`)
  const relay = startOutboxRelay({ outbox, publish: (event) => broker.publishEvent(event), log })
  shutdown.defer('outbox relay', () => relay.stop())

  const store = createStateStore(redis)
  const calls = createCallBook(store, () => relay.nudge(), Date.now)
  const platform = openSimulator({ agents: config.SIMULATOR_AGENTS, store, timers: createTimerStore(redis), log })
  await platform.start((fact) => calls.record(fact))
  shutdown.defer('platform', () => platform.stop())

  const auth = openAuth({ ...authOptionsOf(config), log, ...(keyTiming && { keyTiming }) })
  shutdown.defer('signing keys', () => auth.close())
  const routes = createRoutes({
    subscriptions: createSubscriptionStore(redis),
    deliveries: createDeliveryArchive(redis),
    publishDelivery: (delivery) => broker.publishDelivery(delivery),
    urlRules: urlRulesOf(config),
    platform,
    calls,
    now: Date.now,
  })
  const timing = { ...IDEMPOTENCY_TIMING, ...idempotencyTiming }
  const app = createApp({
    routes,
    authenticate: auth.authenticate,
    answerOnce: createAnswerOnce(createIdempotencyStore(redis, timing), timing.waitMs, log),
    trustProxy: config.TRUST_PROXY,
    log,
  })
  const server = await startHttpServer({ port: config.API_PORT, listener: app, ...(deadlines && { deadlines }) })
  shutdown.defer('http', () => server.close())

  return { port: server.port, checks: { redis: () => redis.isReady(), rabbitmq: () => broker.isReady() } }
}
