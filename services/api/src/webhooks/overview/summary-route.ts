import { isPaused, type Subscription } from '@switchhook/contracts'
import { inChunks, type PageQuery } from '@switchhook/store'
import { type RouteOf, searches } from '../../http/route.ts'
import {
  completeComponent,
  count,
  described,
  flag,
  list,
  moment,
  momentOrNull,
  nextCursorSchema,
  pageParameters,
} from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { endpointHealthSchema, healthViewOf } from '../subscriptions/endpoint-health.ts'
import { OPTIONAL_SETTINGS } from '../subscriptions/optional-settings.ts'
import { subscriptionSchema } from '../subscriptions/subscription-schema.ts'

type SummaryRouteDeps = Pick<WebhookParts, 'subscriptions' | 'standings' | 'healthOf' | 'now'>

const { id, mode, url, description, enabled } = subscriptionSchema.properties

const subscriptionSummarySchema = completeComponent(
  'SubscriptionSummary',
  'A subscription, the health of its endpoint, and how many of its deliveries are in which state.',
  {
    subscriptionId: id,
    mode,
    url,
    description,
    enabled,
    paused: flag('Whether it is paused now, by `paused` or `pausedUntil`.', false),
    pending: count('Deliveries whose first attempt is not finished, among the `looked` latest ones.', 0),
    waiting: count('Deliveries that wait for their next attempt, among the `looked` latest ones.', 12),
    looked: count(
      'Over how many of its latest deliveries `pending` and `waiting` are counted. The count stops at deliveries that are over, unless the endpoint ' +
        'failed within the last day.',
      500,
    ),
    held: count('All held deliveries, with those that a client has received. They are not among the waiting ones.', 0),
    oldestHeldAt: momentOrNull(
      'Since when the oldest that no client has received is due, in UTC; null if there is none.',
    ),
    parked: count('All parked deliveries. It can briefly include deliveries that are no longer parked.', 3),
    oldestParkedAt: momentOrNull('When the oldest of them was parked, in UTC; null if none is parked.'),
    deleteAfterUnusedSeconds: OPTIONAL_SETTINGS.deleteAfterUnusedSeconds,
    health: endpointHealthSchema,
  },
)

const summarySchema = completeComponent('Summary', 'The state of each subscription.', {
  asOf: moment('When the answer was made, in UTC.'),
  items: list('The subscriptions of this page, the oldest first.', subscriptionSummarySchema),
  nextCursor: nextCursorSchema,
})

/** Deliveries that one answer looks at, over all its subscriptions: about 20 ms of Redis. */
const MAX_LOOKED = 10_000
/** Each reads up to a hundred deliveries together. */
const SUMMARIES_AT_ONCE = 4
/** Within this time after a failure, deliveries may wait for a retry behind others that are over. */
const FAILING_MS = 86_400_000

async function summaryOf({ standings, healthOf, now }: SummaryRouteDeps, subscription: Subscription, most: number) {
  const health = await healthOf(subscription)
  const isFailing = health.state !== 'closed' || (health.failureAtMs ?? 0) > now() - FAILING_MS
  const standing = await standings.read(subscription, { most, isFailing })
  return described(subscriptionSummarySchema, {
    ...subscription,
    subscriptionId: subscription.id,
    mode: subscription.mode ?? 'post',
    url: subscription.url || null,
    paused: isPaused(subscription, now()),
    ...standing,
    deleteAfterUnusedSeconds: subscription.deleteAfterUnusedSeconds ?? null,
    health: healthViewOf(health),
  })
}

export const readSummary: RouteOf<SummaryRouteDeps, undefined, PageQuery> = {
  ...searches('subscriptions'),
  path: '/api/v1/webhooks/summary',
  operationId: 'readSummary',
  summary: 'Read how all subscriptions stand',
  description:
    'Lists the subscriptions with the health of their endpoints and the numbers of their pending, waiting, held and parked deliveries, the oldest ' +
    'subscription first. One answer looks at 10,000 deliveries in all, at least 100 and at most 1000 of each subscription; a smaller `limit` looks ' +
    'at more of each.',
  query: pageParameters,
  responses: { 200: { description: 'A page of summaries.', body: summarySchema } },
  async handle({ caller, query }, deps) {
    const page = await deps.subscriptions.page(caller.tenant, query)
    const most = Math.min(1_000, Math.floor(MAX_LOOKED / Math.max(1, page.items.length)))
    const items = await inChunks(page.items, (subscription) => summaryOf(deps, subscription, most), SUMMARIES_AT_ONCE)
    return { status: 200, body: { asOf: new Date(deps.now()).toISOString(), items, nextCursor: page.nextCursor } }
  },
}
