import {
  type Envelope,
  PARKED_REASONS,
  parseEventId,
  parseSubscriptionId,
  subjectOf,
  type Tenant,
} from '@switchhook/contracts'
import type { ListedDelivery, Page } from '@switchhook/store'
import { rangeOf } from '../../http/read-range.ts'
import { type Answer, type RouteOf, searches } from '../../http/route.ts'
import { choice, integer, type QueryOf } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'
import { deliveryQuery, isAbout, matcherOf, type SubjectDeps, subjectAsked } from './delivery-query.ts'
import { deliveryPageSchema, OUTCOMES, summaryOf } from './delivery-schema.ts'
import { subjectParameters } from './event-list-route.ts'

export type DeliveryListDeps = Pick<WebhookParts, 'subscriptions' | 'parked' | 'deliveryLog' | 'tenantLog'> &
  SubjectDeps

const { eventId: _, limit, cursor, ...inherited } = deliveryQuery

const parameters = {
  ...inherited,
  parkedReason: choice(PARKED_REASONS, 'Only deliveries that were parked for this reason.', 'exhausted'),
  outcome: choice(OUTCOMES, 'Only deliveries whose latest attempt had this outcome.', 'timeout'),
  status: integer('Only deliveries whose latest attempt was answered with this HTTP status.', 503, {
    minimum: 100,
    maximum: 999,
  }),
  subscriptionId: { ...subscriptionIdSchema, description: 'Only deliveries of this subscription.' },
  ...subjectParameters('deliveries of events'),
  limit,
  cursor,
} as const

type Wanted = QueryOf<typeof parameters> & { readonly eventId?: string }

/** Answers with a page of the deliveries of a tenant, or of one of its subscriptions. */
export async function listWanted(deps: DeliveryListDeps, tenant: Tenant, wanted: Wanted): Promise<Answer> {
  const { items, nextCursor } = await pageOf(deps, tenant, wanted)
  return { status: 200, body: { items: items.map(summaryOf), nextCursor } }
}

async function pageOf(deps: DeliveryListDeps, tenant: Tenant, asked: Wanted): Promise<Page<ListedDelivery>> {
  const { subscriptions, parked, deliveryLog, tenantLog } = deps
  const { subscriptionId, eventId, callId, agentUri, ...query } = asked
  const only = subscriptionId !== undefined && { subscriptionId: parseSubscriptionId(subscriptionId) }
  const event = eventId !== undefined && { eventId: parseEventId(eventId) }
  const wanted = { ...rangeOf(query), ...only, ...event, matches: matcherOf({ ...query, ...event }) }
  const subject = await subjectAsked(deps, tenant, asked)
  const hasSubject = callId !== undefined || agentUri !== undefined
  if (query.state === 'parked') {
    const bodyMatches = (body: Buffer) => isAbout(subject, subjectOf((JSON.parse(body.toString()) as Envelope).data))
    return parked.page(tenant, { ...wanted, ...(hasSubject && { bodyMatches }) })
  }
  if (only === false || hasSubject) return tenantLog.page(tenant, { ...wanted, ...subject })
  const subscription = await subscriptions.find(tenant, only.subscriptionId)
  return subscription === undefined ? { items: [], nextCursor: null } : deliveryLog.page(subscription, wanted)
}

export const listTenantDeliveries: RouteOf<DeliveryListDeps, undefined, QueryOf<typeof parameters>> = {
  ...searches('deliveries'),
  path: '/api/v1/webhooks/deliveries',
  operationId: 'listTenantDeliveries',
  summary: 'List the deliveries of all subscriptions',
  description:
    'Lists the deliveries of the tenant, the newest first; by default only parked ones. Parked deliveries are listed for 30 days, by the time of ' +
    'parking, for the 1000 subscriptions that parked a delivery last. Other states are listed for the latest 20,000 events ' +
    'of 1 hour (both are defaults). With `subscriptionId` and without `callId` and `agentUri`, they are listed as by ' +
    '`GET /webhooks/subscriptions/{id}/deliveries`, which goes back further. New deliveries do not shift the pages. ' +
    'A page ends after a search of a thousand deliveries, so it can have fewer items than `limit` and still have a `nextCursor`. ' +
    'Deliveries of deleted subscriptions are listed as well.',
  query: parameters,
  responses: { 200: { description: 'A page of deliveries.', body: deliveryPageSchema } },
  handle: ({ caller, query }, deps) => listWanted(deps, caller.tenant, query),
}
