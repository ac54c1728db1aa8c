import { AppError, type EventType, isGuid, parseSubscriptionId, type Subscription } from '@switchhook/contracts'
import { inChunks, type SubscriptionQuery, type SubscriptionStore } from '@switchhook/store'
import type { Audited } from '../../http/audit-action.ts'
import { requireMatch } from '../../http/entity-tag.ts'
import type { Caller, RouteOf } from '../../http/route.ts'
import { firstAttemptsStopped, stopsFirstAttempts } from './stop-first-attempts.ts'
import {
  createdSubscriptionSchema,
  etagHeader,
  HEALTHY,
  type Health,
  MAX_PAGE,
  newSubscriptionSchema,
  noneParked,
  type Parked,
  type SubscriptionView,
  subscriptionChangeSchema,
  subscriptionIdSchema,
  subscriptionPageQuery,
  subscriptionSchema,
  tagOf,
  viewOf,
} from './subscription-schema.ts'
import type { SubscriptionSecrets } from './subscription-secrets.ts'
import { validateSubscription } from './validate-subscription.ts'
import type { WebhookUrlRules } from './webhook-url.ts'

export interface SubscriptionRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'create' | 'page' | 'find' | 'findByExternalId' | 'revise' | 'remove'>
  readonly urlRules: WebhookUrlRules
  readonly healthOf: (subscription: Subscription) => Promise<Health>
  readonly parkedOf: (subscription: Subscription) => Promise<Parked>
  /** The number of parked deliveries per subscription that keep their body. */
  readonly parkedLimit: number
  readonly secrets: SubscriptionSecrets
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface NewSubscription {
  readonly url: string
  readonly eventTypes: readonly EventType[]
  readonly description?: string | null
  readonly externalId?: string | null
  readonly enabled?: boolean
}

type SubscriptionChange = Partial<NewSubscription>

export const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'

const params = { id: subscriptionIdSchema }

const onSubscription: Audited['on'] = ({ params: { id } }) => ({ subscriptionId: id })

/** @throws AppError `subscription-not-found`, also for a malformed id and for a subscription of another tenant */
export async function findSubscription(
  subscriptions: Pick<SubscriptionStore, 'find'>,
  { tenant }: Caller,
  id: string | undefined,
): Promise<Subscription> {
  const found = isGuid(id) ? await subscriptions.find(tenant, parseSubscriptionId(id)) : undefined
  if (found === undefined) throw new AppError('subscription-not-found')
  return found
}

async function withHealth(
  { healthOf, parkedOf, now }: Pick<SubscriptionRouteDeps, 'healthOf' | 'parkedOf' | 'now'>,
  subscription: Subscription,
): Promise<SubscriptionView> {
  const [health, parked] = await Promise.all([healthOf(subscription), parkedOf(subscription)])
  return viewOf(subscription, health, parked, now())
}

export const createSubscription: RouteOf<SubscriptionRouteDeps, NewSubscription> = {
  method: 'post',
  path: SUBSCRIPTIONS,
  operationId: 'createSubscription',
  tag: 'subscriptions',
  role: 'admin',
  summary: 'Create a subscription',
  description:
    'Subscribes an endpoint to event types. The subscription is enabled immediately unless you send `enabled: false`. Store the `secret` of the answer: it signs ' +
    'the deliveries, and no later answer shows it. If `url` or `eventTypes` is invalid, the error lists the known event types.',
  idempotent: true,
  audit: { action: 'subscription.created', on: ({ made }) => ({ subscriptionId: made['id'] }) },
  body: newSubscriptionSchema,
  responses: {
    201: {
      description: 'The subscription was created.',
      body: createdSubscriptionSchema,
      headers: { Location: { type: 'string', description: 'The path of the new subscription.' }, ETag: etagHeader },
    },
  },
  failures: ['invalid-webhook-url', 'unknown-event-type', 'too-many-subscriptions', 'external-id-taken'],
  validate: (body, faults, { urlRules }) => validateSubscription(body, faults, urlRules),
  async handle({ caller, body, idFor }, { subscriptions, parkedLimit, secrets, now }) {
    const owner = { id: parseSubscriptionId(idFor('subscription')), tenant: caller.tenant }
    const createdAt = new Date(now()).toISOString()
    const created = await subscriptions.create({
      ...owner,
      url: body.url,
      eventTypes: distinct(body.eventTypes),
      description: body.description ?? null,
      ...(body.externalId != null && { externalId: body.externalId }),
      enabled: body.enabled ?? true,
      createdAt,
      signing: { id: idFor('secret'), secret: secrets.issue(owner), since: createdAt, former: [] },
    })
    return {
      status: 201,
      body: viewOf(created, HEALTHY, noneParked(parkedLimit), now()),
      confidential: { secret: secrets.reveal(created) },
      headers: { Location: `${SUBSCRIPTIONS}/${created.id}`, ETag: tagOf(created) },
    }
  },
}

export const listSubscriptions: RouteOf<
  SubscriptionRouteDeps,
  undefined,
  SubscriptionQuery & { readonly externalId?: string }
> = {
  method: 'get',
  path: SUBSCRIPTIONS,
  operationId: 'listSubscriptions',
  tag: 'subscriptions',
  role: 'viewer',
  isExpensive: true,
  summary: 'List subscriptions',
  description:
    "Lists the tenant's subscriptions, the oldest first (by `createdAt`, then `id`). If there are more than `limit`, the `Link` header has the " +
    'url of the next page. Creating or deleting subscriptions meanwhile does not move others to another page.',
  query: subscriptionPageQuery,
  responses: {
    200: {
      description: 'A page of subscriptions.',
      body: { type: 'array', description: 'The subscriptions.', items: subscriptionSchema, maxItems: MAX_PAGE },
      headers: {
        Link: {
          type: 'string',
          description: 'The url of the next page (RFC 8288), relative to this one. Absent on the last page.',
          examples: [
            `<${SUBSCRIPTIONS}?limit=100&cursor=MjAyNi0xMS0yMFQxNzowNjowMS4xNzNaIDRmMWMyYTllLThhNTMtNGMxZC05ZDFlLTBkNmQ2YjFmN2ExMQ>; rel="next"`,
          ],
        },
      },
    },
  },
  failures: [],
  async handle({ caller, query: { externalId, ...query } }, deps) {
    const { items, nextCursor } = await (externalId === undefined
      ? deps.subscriptions.page(caller.tenant, query)
      : onlyPage(await deps.subscriptions.findByExternalId(caller.tenant, externalId)))
    const next = `${SUBSCRIPTIONS}?limit=${query.limit}&cursor=${nextCursor}`
    return {
      status: 200,
      body: await inChunks(items, (subscription) => withHealth(deps, subscription)),
      ...(nextCursor !== null && { headers: { Link: `<${next}>; rel="next"` } }),
    }
  },
}

export const readSubscription: RouteOf<SubscriptionRouteDeps> = {
  method: 'get',
  path: `${SUBSCRIPTIONS}/{id}`,
  operationId: 'readSubscription',
  tag: 'subscriptions',
  role: 'viewer',
  summary: 'Read a subscription',
  description: 'Returns a subscription with the health of its endpoint and the number of its parked deliveries.',
  params,
  responses: { 200: { description: 'The subscription.', body: subscriptionSchema, headers: { ETag: etagHeader } } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id } }, deps) {
    const found = await findSubscription(deps.subscriptions, caller, id)
    return { status: 200, body: await withHealth(deps, found), headers: { ETag: tagOf(found) } }
  },
}

export const changeSubscription: RouteOf<SubscriptionRouteDeps, SubscriptionChange> = {
  method: 'patch',
  path: `${SUBSCRIPTIONS}/{id}`,
  operationId: 'changeSubscription',
  tag: 'subscriptions',
  role: 'admin',
  summary: 'Change, disable or enable a subscription',
  description:
    'Changes the fields that you send. After the answer, no first attempt is sent to a disabled subscription, for a removed event type or to ' +
    'the previous url. A request that disables, removes event types or sets `url` therefore takes about 0.4 s; other changes are answered immediately. ' +
    'Deliveries that have already failed keep their schedule, url and body.',
  idempotent: true,
  conditional: true,
  audit: { action: 'subscription.changed', on: onSubscription },
  params,
  body: subscriptionChangeSchema,
  responses: {
    200: { description: 'The changed subscription.', body: subscriptionSchema, headers: { ETag: etagHeader } },
  },
  failures: ['subscription-not-found', 'invalid-webhook-url', 'unknown-event-type', 'external-id-taken'],
  validate: (body, faults, { urlRules }) => validateSubscription(body, faults, urlRules),
  async handle({ caller, params: { id }, body, ifMatch, isRerun }, deps) {
    const { url, eventTypes, description, externalId, enabled } = body
    if (!isGuid(id)) throw new AppError('subscription-not-found')
    const wanted = {
      ...(url !== undefined && { url }),
      ...(eventTypes !== undefined && { eventTypes: distinct(eventTypes) }),
      ...(description !== undefined && { description }),
      ...(externalId !== undefined && { externalId: externalId ?? undefined }),
      ...(enabled !== undefined && { enabled }),
    }
    let before: Subscription | undefined
    const changed = await deps.subscriptions.revise(caller.tenant, parseSubscriptionId(id), (present) => {
      before = present
      const next = { ...present, ...wanted }
      // An earlier run of the same request may have stored the change, and with it another tag.
      if (isRerun !== true || tagOf(next) !== tagOf(present)) requireMatch(ifMatch, tagOf(present))
      return next
    })
    if (stopsFirstAttempts(wanted, before)) await firstAttemptsStopped(performance.now())
    if (changed === undefined) throw new AppError('subscription-not-found')
    // A repeated change is audited even if the fields have these values already: the process may have died after an
    // earlier request had stored them and before it was audited.
    return {
      status: 200,
      body: await withHealth(deps, changed),
      headers: { ETag: tagOf(changed) },
      isUnchanged: Object.keys(wanted).length === 0,
    }
  },
}

export const deleteSubscription: RouteOf<SubscriptionRouteDeps> = {
  method: 'delete',
  path: `${SUBSCRIPTIONS}/{id}`,
  operationId: 'deleteSubscription',
  tag: 'subscriptions',
  role: 'admin',
  summary: 'Delete a subscription',
  description:
    'After the answer, no first attempt is sent. The answer therefore takes about 0.4 s. Deliveries that have already failed keep their schedule; ' +
    'to stop their retries, let your endpoint answer 410, which parks them.',
  idempotent: true,
  conditional: true,
  audit: { action: 'subscription.deleted', on: onSubscription },
  params,
  responses: { 204: { description: 'The subscription was deleted.' } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id }, ifMatch, isRerun }, { subscriptions }) {
    if (!isGuid(id)) throw new AppError('subscription-not-found')
    const removed = await subscriptions.remove(caller.tenant, parseSubscriptionId(id), (present) =>
      requireMatch(ifMatch, tagOf(present)),
    )
    // Before a 404 too: a concurrent request may have just deleted the subscription and still be waiting here.
    await firstAttemptsStopped(performance.now())
    // An earlier run of the same request may have deleted it.
    if (!removed && isRerun !== true) throw new AppError('subscription-not-found')
    return { status: 204 }
  },
}

const onlyPage = (found: Subscription | undefined) => ({ items: found === undefined ? [] : [found], nextCursor: null })

const distinct = (eventTypes: readonly EventType[]): EventType[] => [...new Set(eventTypes)]
