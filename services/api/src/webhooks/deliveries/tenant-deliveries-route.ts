import {
  canonicalCallId,
  type Envelope,
  type EventType,
  PARKED_REASONS,
  type ParkedReason,
  parseSubscriptionId,
  subjectOf,
  type Tenant,
  UNREACHABLE_REASONS,
} from '@switchhook/contracts'
import type {
  DeliveryLogReader,
  ListedDelivery,
  Page,
  SubscriptionStore,
  TenantLog,
  TenantParked,
} from '@switchhook/store'
import { rangeOf } from '../../http/read-range.ts'
import type { RouteOf } from '../../http/route.ts'
import { choice } from '../../http/schema-parts.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { type DeliveryQuery, deliveryQuery } from './delivery-query.ts'
import { deliveryPageSchema } from './delivery-schema.ts'
import { summaryOf } from './delivery-view.ts'
import { eventListQuery } from './event-list-route.ts'

export interface TenantDeliveriesRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'find'>
  readonly parked: Pick<TenantParked, 'page'>
  /** The latest deliveries of one subscription. */
  readonly deliveryLog: Pick<DeliveryLogReader, 'page'>
  /** The deliveries of the tenant's latest events. */
  readonly tenantLog: TenantLog
}

interface TenantDeliveryQuery extends Omit<DeliveryQuery, 'eventId' | 'eventType'> {
  readonly eventType?: EventType
  readonly parkedReason?: ParkedReason
  readonly outcome?: string
  readonly status?: number
  readonly subscriptionId?: string
  readonly callId?: string
  readonly agentUri?: string
}

const { eventId: _, limit, cursor, ...inherited } = deliveryQuery

const query = {
  ...inherited,
  parkedReason: choice(PARKED_REASONS, 'Only deliveries that were parked for this reason.', 'exhausted'),
  outcome: choice(
    ['delivered', 'answered', ...UNREACHABLE_REASONS],
    'Only deliveries whose latest attempt had this outcome.',
    'timeout',
  ),
  status: {
    type: 'integer',
    minimum: 100,
    maximum: 999,
    description: 'Only deliveries whose latest attempt was answered with this HTTP status.',
    examples: [503],
  },
  subscriptionId: { ...subscriptionIdSchema, description: 'Only deliveries of this subscription.' },
  callId: { ...eventListQuery.callId, description: 'Only deliveries of events of this call.' },
  agentUri: {
    ...eventListQuery.agentUri,
    description: 'Only deliveries of events of this agent. Percent-encode special characters such as `+`.',
  },
  limit,
  cursor,
} as const

async function pageOf(
  { subscriptions, parked, deliveryLog, tenantLog }: TenantDeliveriesRouteDeps,
  tenant: Tenant,
  { state, subscriptionId, eventType, callId, agentUri, ...rest }: TenantDeliveryQuery,
): Promise<Page<ListedDelivery>> {
  const only = subscriptionId === undefined ? undefined : parseSubscriptionId(subscriptionId)
  const matches = matcherOf({ state, ...rest })
  const hasSubject = callId !== undefined || agentUri !== undefined
  const range = { ...rangeOf(rest), ...(only !== undefined && { subscriptionId: only }) }
  const subject = {
    ...(callId !== undefined && { callId: canonicalCallId(callId) }),
    ...(agentUri !== undefined && { agentUri }),
  }
  if (state === 'parked') {
    return parked.page(tenant, {
      ...range,
      matches: (item) => matches(item) && (eventType === undefined || item.eventType === eventType),
      ...(hasSubject && { bodyMatches: (body) => isAbout(body, subject) }),
    })
  }
  if (only === undefined || hasSubject) {
    return tenantLog.page(tenant, { ...range, ...subject, ...(eventType !== undefined && { eventType }), matches })
  }
  const subscription = await subscriptions.find(tenant, only)
  if (subscription === undefined) return { items: [], nextCursor: null }
  return deliveryLog.page(subscription, { ...rangeOf(rest), matches, ...(eventType !== undefined && { eventType }) })
}

export const listTenantDeliveries: RouteOf<TenantDeliveriesRouteDeps, undefined, TenantDeliveryQuery> = {
  method: 'get',
  path: '/api/v1/webhooks/deliveries',
  operationId: 'listTenantDeliveries',
  tag: 'deliveries',
  role: 'viewer',
  isExpensive: true,
  summary: 'List the deliveries of all subscriptions',
  description:
    'Lists the deliveries of the tenant, the newest first; by default only parked ones. Parked deliveries are listed for 30 days, by the time of ' +
    'parking, for the 1000 subscriptions that parked a delivery last. Other states are listed for the events of `GET /webhooks/events`: the latest ' +
    '20,000 of 1 hour (both are defaults). With `subscriptionId` and without `callId` and `agentUri`, they are listed as by ' +
    '`GET /webhooks/subscriptions/{id}/deliveries`, which goes back further. New deliveries do not shift the pages. ' +
    'One request searches a thousand deliveries, so a page can have fewer items than `limit`, or none, and still have a `nextCursor`. ' +
    'Deliveries of deleted subscriptions are listed as well.',
  query,
  responses: { 200: { description: 'A page of deliveries.', body: deliveryPageSchema } },
  failures: [],
  async handle({ caller, query: asked }, deps) {
    const { items, nextCursor } = await pageOf(deps, caller.tenant, asked)
    return { status: 200, body: { items: items.map(summaryOf), nextCursor } }
  },
}

function matcherOf(
  wanted: Pick<TenantDeliveryQuery, 'state' | 'parkedReason' | 'outcome' | 'status'>,
): (delivery: ListedDelivery) => boolean {
  const { state, parkedReason, outcome, status } = wanted
  return (delivery) => {
    const latest = delivery.attempts.at(-1)
    return (
      // A redelivery that is not known to be published has another state, and still counts as parked.
      (state === 'any' || state === 'parked' || delivery.state === state) &&
      (parkedReason === undefined || delivery.parkedReason === parkedReason) &&
      (outcome === undefined || latest?.outcome === outcome) &&
      (status === undefined || latest?.status === status)
    )
  }
}

function isAbout(body: Buffer, wanted: { readonly callId?: string; readonly agentUri?: string }): boolean {
  const { data } = JSON.parse(body.toString()) as Envelope
  const { callId, agentUri } = subjectOf(data)
  return (
    (wanted.callId === undefined || wanted.callId === callId) &&
    (wanted.agentUri === undefined || wanted.agentUri === agentUri)
  )
}
