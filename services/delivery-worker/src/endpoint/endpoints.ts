import type { ScheduleOf, Tenant } from '@switchhook/contracts'
import type { Broker } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import {
  createBreakerStore,
  type Endpoint,
  type Installation,
  type Redis,
  type SubscriptionStore,
} from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import { maxAttemptMs, type WorkerConfig } from '../config.ts'
import { type AdmitDeps, createAdmit } from './admit.ts'
import { createBreaker, type OutageNotices } from './cooldown.ts'
import { createIsolation, type IsolationDeps } from './isolate.ts'

interface EndpointsDeps {
  readonly config: WorkerConfig
  readonly bounds: Pick<IsolationDeps, 'turns' | 'mostHanging'>
  readonly redis: Redis
  readonly broker: Pick<Broker, 'publishToLane'>
  readonly installation: Pick<Installation, 'confirmAbsence'>
  readonly subscriptions: Pick<SubscriptionStore, 'findRemoved'>
  readonly notices: OutageNotices
  readonly client: Pick<AdmitDeps, 'canSign'>
  readonly reporting: {
    readonly meter: { readonly cooldown: () => void; readonly movedToLane: () => void }
    /** Called with each look: whether the tenant has listeners of its live stream. */
    readonly noteListened: (tenant: Tenant, isListened: boolean) => void
  }
  readonly scheduleOf: ScheduleOf
  readonly clocks: Clocks
  readonly log: Pick<Logger, 'info'>
}

/** What concerns the endpoints of this worker: what is known of them, whether they may be POSTed to, and their turns. */
export function createEndpoints(deps: EndpointsDeps) {
  const { config, redis, subscriptions, reporting, clocks, log } = deps
  const cooldownMs = config.BREAKER_COOLDOWN
  const breakers = createBreakerStore(redis, { failures: config.BREAKER_FAILURES, cooldownMs })
  const breaker = createBreaker(
    breakers,
    maxAttemptMs(config),
    (subscriptionId, pauseMs) => {
      reporting.meter.cooldown()
      log.info('cool-down began', { subscriptionId, cooldownMs, ...(pauseMs !== undefined && { pauseMs }) })
    },
    deps.notices,
    deps.scheduleOf,
  )
  const look = deps.installation.confirmAbsence(
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
    canSign: deps.client.canSign,
    findRemoved: (...asked) => subscriptions.findRemoved(...asked),
    ...clocks,
  })
  const isolation = createIsolation({
    turns: deps.bounds.turns,
    mostHanging: deps.bounds.mostHanging,
    publishToLane: deps.broker.publishToLane,
    movedToLane: reporting.meter.movedToLane,
    nowMs: clocks.nowMs,
  })
  return { look, admit, breaker, isolation }
}
