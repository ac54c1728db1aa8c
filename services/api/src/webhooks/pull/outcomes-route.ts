import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  AppError,
  type DeliveryId,
  type Fault,
  parseDeliveryId,
  type Subscription,
  Unavailable,
} from '@switchhook/contracts'
import { type Lease, leaseTimes, type Report } from '@switchhook/store'
import { acts, type RouteOf } from '../../http/route.ts'
import type { ValueOf } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { findSubscription, ofSubscription } from '../subscriptions/subscription-routes.ts'
import type { LeaseTokens } from './lease-tokens.ts'
import { type OutcomeItem, outcomeOf, outcomeResultsSchema, outcomesSchema } from './pull-schema.ts'

interface OutcomesRouteDeps extends Pick<WebhookParts, 'subscriptions' | 'broker' | 'held' | 'deliveryLog' | 'now'> {
  readonly tokens: LeaseTokens
}

type Body = ValueOf<typeof outcomesSchema>

/** How long a request waits for a worker. */
const RESULTS_MS = 10_000
/** The waits between two reads of the results double. */
const FIRST_WAIT_MS = 4
const MAX_WAIT_MS = 100

/** Reports outcomes. Not audited: the attempts of a delivery show them. */
export const reportOutcomes: RouteOf<OutcomesRouteDeps, Body> = {
  ...acts('subscriptions'),
  ...ofSubscription('/outcomes'),
  operationId: 'reportOutcomes',
  summary: 'Report the outcomes of received deliveries',
  description:
    'Reports what a POST would have found: each outcome acknowledges its delivery, schedules its retry or parks it, by the same rules. An outcome that arrives after the end of ' +
    'its lease is `lease-lost` and changes nothing. A repeated report is `lease-lost`, too, and shows the state that the first one led to. ' +
    '503 `outcomes-unfinished`: the outcomes are recorded, but not applied yet.',
  body: outcomesSchema,
  validate: (body, faults) => {
    const all = faults.length > 0 ? faults : faultsIn(body as Body)
    return all.length === 0 ? undefined : new AppError('invalid-request', { errors: all })
  },
  responses: { 200: { description: 'The results.', body: outcomeResultsSchema } },
  failures: ['subscription-not-found', 'subscription-not-pull', 'outcomes-unfinished'],
  async handle({ caller, params: { id }, body: { items } }, deps) {
    const subscription = await findSubscription(deps.subscriptions, caller, id, { bePull: true })
    const [released, reported] = await Promise.all([
      release(deps, subscription, items),
      report(deps, subscription, items),
    ])
    const done = new Set([...released, ...reported])
    const deliveryIds = items.map(({ deliveryId }) => parseDeliveryId(deliveryId))
    const records = await deps.deliveryLog.records(deliveryIds)
    const results = deliveryIds.map((deliveryId, i) => {
      // Of another subscription, a delivery is unknown here.
      const own = records[i]?.subscriptionId === subscription.id ? records[i] : undefined
      const { state = 'unknown', nextAttemptAt = null } = own ?? {}
      return { deliveryId, result: done.has(deliveryId) ? 'done' : 'lease-lost', state, nextAttemptAt }
    })
    return { status: 200, body: { items: results } }
  },
}

function faultsIn({ items }: Body): Fault[] {
  const names = items.map(({ deliveryId }) => deliveryId.toLowerCase())
  return items.flatMap((item, i): Fault[] => {
    if (names.indexOf(item.deliveryId.toLowerCase()) < i)
      return [{ pointer: `/items/${i}/deliveryId`, detail: 'is in the list twice' }]
    const given = [item.status, item.error, item.release || undefined].filter((each) => each !== undefined)
    if (given.length === 1) return []
    return [{ pointer: `/items/${i}`, detail: 'must have exactly one of status, error and release' }]
  })
}

/** Undefined: this lease was not handed out. */
const leaseOf = (
  { tokens }: OutcomesRouteDeps,
  { id }: Subscription,
  { deliveryId, leaseToken }: OutcomeItem,
): Lease | undefined => tokens.read(id, parseDeliveryId(deliveryId), leaseToken)

/** @returns the deliveries that were given back */
async function release(deps: OutcomesRouteDeps, subscription: Subscription, items: readonly OutcomeItem[]) {
  const [{ held }, { id }] = [deps, subscription]
  const leases = items.filter((item) => item.release).flatMap((item) => leaseOf(deps, subscription, item) ?? [])
  const isReleased = leases.length === 0 ? [] : await held.release(id, leases)
  return leases.filter((_, i) => isReleased[i]).map(({ deliveryId }) => deliveryId)
}

/**
 * A worker concludes the attempts, with the rules of a POST. The outcomes are stored with their leases first, and no other client
 * receives the deliveries meanwhile. If this process dies before the broker has confirmed the batch, a visit of a
 * worker records them.
 * @returns the deliveries whose lease was held
 */
async function report(
  deps: OutcomesRouteDeps,
  subscription: Subscription,
  items: readonly OutcomeItem[],
): Promise<readonly DeliveryId[]> {
  const [{ held, broker, now }, { id: subscriptionId, tenant }] = [deps, subscription]
  const reports = items.flatMap((item): Report[] => {
    const [outcome, lease] = [outcomeOf(item), leaseOf(deps, subscription, item)]
    if (outcome === undefined || lease === undefined) return []
    const durationMs = item.durationMs ?? Math.max(0, now() - leaseTimes(lease.lease).beganAtMs)
    return [{ ...lease, durationMs, outcome }]
  })
  if (reports.length === 0) return []
  // Before the leases get other names: the client can then repeat its report.
  if (!broker.isReady()) throw new Unavailable('rabbitmq', 'outcomes cannot be recorded without RabbitMQ')
  const reported = await held.report(subscriptionId, reports)
  if (reported.length === 0) return []
  const batchId = randomUUID()
  await broker.publishOutcomes({ batchId, tenant, subscriptionId, items: reported })
  const untilMs = performance.now() + RESULTS_MS
  for (let waitMs = FIRST_WAIT_MS; performance.now() < untilMs; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    await pause(waitMs)
    if (await held.isRecorded(batchId)) return reported.map(({ deliveryId }) => deliveryId)
  }
  throw new AppError('outcomes-unfinished')
}
