import { AppError, type EventType, isGuid, parseSubscriptionId, type Subscription } from '@switchhook/contracts'
import type { SubscriptionQuery, SubscriptionStore } from '@switchhook/store'
import type { Audited } from '../audit/audit-action.ts'
import type { Caller, Route } from '../http/route.ts'
import { judgeSubscription } from './judge-subscription.ts'
import { outlastLeases, takesAway } from './outlast-leases.ts'
import { MAX_PAGE, pageQuery } from './subscription-page.ts'
import {
  createdSubscriptionSchema,
  HEALTHY,
  type Health,
  newSubscriptionSchema,
  noneParked,
  type Parked,
  type SubscriptionView,
  subscriptionChangeSchema,
  subscriptionIdSchema,
  subscriptionSchema,
  viewOf,
} from './subscription-schema.ts'
import type { SubscriptionSecrets } from './subscription-secrets.ts'
import type { WebhookUrlRules } from './webhook-url.ts'

export interface SubscriptionRoutesDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'create' | 'page' | 'find' | 'revise' | 'remove'>
  readonly urlRules: WebhookUrlRules
  /** What is known of a subscription's endpoint. */
  readonly healthOf: (subscription: Subscription) => Promise<Health>
  /** How many of its deliveries are parked. */
  readonly parkedOf: (subscription: Subscription) => Promise<Parked>
  /** How many parked deliveries of a subscription keep their body. */
  readonly parkedLimit: number
  readonly secrets: SubscriptionSecrets
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface NewSubscription {
  readonly url: string
  readonly eventTypes: readonly EventType[]
  readonly description?: string | null
  readonly enabled?: boolean
}

type SubscriptionChange = Partial<NewSubscription>

export const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'

const params = { id: subscriptionIdSchema }

const onSubscription: Audited['on'] = ({ params: { id } }) => ({ subscriptionId: id })

/** @throws AppError `subscription-not-found`, for a malformed id and another tenant's subscription as well */
export async function findSubscription(
  subscriptions: Pick<SubscriptionStore, 'find'>,
  { tenant }: Caller,
  id: string | undefined,
): Promise<Subscription> {
  const found = isGuid(id) ? await subscriptions.find(tenant, parseSubscriptionId(id)) : undefined
  if (found === undefined) throw new AppError('subscription-not-found')
  return found
}

export function createSubscriptionRoutes(deps: SubscriptionRoutesDeps): Route[] {
  const { subscriptions, urlRules, healthOf, parkedOf, parkedLimit, secrets, now } = deps
  const withHealth = async (subscription: Subscription): Promise<SubscriptionView> => {
    const [health, parked] = await Promise.all([healthOf(subscription), parkedOf(subscription)])
    return viewOf(subscription, health, parked, now())
  }

  const create: Route<NewSubscription> = {
    method: 'post',
    path: SUBSCRIPTIONS,
    operationId: 'createSubscription',
    tag: 'subscriptions',
    summary: 'Subscribe a url to event types',
    description:
      'The subscription is enabled at once, unless the request says otherwise. Its deliveries are signed with the `secret` of the answer, which no ' +
      'other answer shows. The answer to a faulty `url` or faulty `eventTypes` lists the event types that there are.',
    idempotent: true,
    audit: { action: 'subscription.created', on: ({ made }) => ({ subscriptionId: made['id'] }) },
    body: newSubscriptionSchema,
    responses: {
      201: {
        description: 'Created.',
        body: createdSubscriptionSchema,
        headers: { Location: { type: 'string', description: 'Where the new subscription is.' } },
      },
    },
    failures: ['invalid-webhook-url', 'unknown-event-type'],
    validate: (body, faults) => judgeSubscription(body, faults, urlRules),
    async handle({ caller, body, idFor }) {
      const owner = { id: parseSubscriptionId(idFor('subscription')), tenant: caller.tenant }
      const createdAt = new Date(now()).toISOString()
      const created = await subscriptions.create({
        ...owner,
        url: body.url,
        eventTypes: distinct(body.eventTypes),
        description: body.description ?? null,
        enabled: body.enabled ?? true,
        createdAt,
        signing: { id: idFor('secret'), secret: secrets.issue(owner), since: createdAt, former: [] },
      })
      return {
        status: 201,
        body: viewOf(created, HEALTHY, noneParked(parkedLimit), now()),
        confidential: { secret: secrets.reveal(created) },
        headers: { Location: `${SUBSCRIPTIONS}/${created.id}` },
      }
    },
  }

  const list: Route<undefined, SubscriptionQuery> = {
    method: 'get',
    path: SUBSCRIPTIONS,
    operationId: 'listSubscriptions',
    tag: 'subscriptions',
    summary: 'List the subscriptions',
    description:
      `Lists the tenant's subscriptions, the oldest first (by \`createdAt\`, then by \`id\`), at most \`limit\` of them (${MAX_PAGE} by default). ` +
      'If there are more, the `Link` header has the url of the next page, with its cursor. A subscription that is created or deleted while ' +
      'you read does not move any other to another page.',
    query: pageQuery,
    responses: {
      200: {
        description: 'A page of the subscriptions.',
        body: { type: 'array', description: 'The subscriptions.', items: subscriptionSchema, maxItems: MAX_PAGE },
        headers: {
          Link: {
            type: 'string',
            description: 'The url of the next page (RFC 8288), relative to this one; absent on the last page.',
            examples: [
              `<${SUBSCRIPTIONS}?limit=100&cursor=MjAyNi0xMS0yMFQxNzowNjowMS4xNzNaIDRmMWMyYTllLThhNTMtNGMxZC05ZDFlLTBkNmQ2YjFmN2ExMQ>; rel="next"`,
            ],
          },
        },
      },
    },
    failures: [],
    async handle({ caller, query }) {
      const { items, nextCursor } = await subscriptions.page(caller.tenant, query)
      const next = `${SUBSCRIPTIONS}?limit=${query.limit}&cursor=${nextCursor}`
      return {
        status: 200,
        body: await Promise.all(items.map(withHealth)),
        ...(nextCursor !== null && { headers: { Link: `<${next}>; rel="next"` } }),
      }
    },
  }

  const read: Route = {
    method: 'get',
    path: `${SUBSCRIPTIONS}/{id}`,
    operationId: 'readSubscription',
    tag: 'subscriptions',
    summary: 'Read one subscription',
    params,
    responses: { 200: { description: 'The subscription.', body: subscriptionSchema } },
    failures: ['subscription-not-found'],
    async handle({ caller, params: { id } }) {
      return { status: 200, body: await withHealth(await findSubscription(subscriptions, caller, id)) }
    },
  }

  const change: Route<SubscriptionChange> = {
    method: 'patch',
    path: `${SUBSCRIPTIONS}/{id}`,
    operationId: 'changeSubscription',
    tag: 'subscriptions',
    summary: 'Change a subscription, or switch it off and on',
    description:
      'After the answer no first attempt leaves that contradicts the change: none while disabled, none of an event type that was removed, none to ' +
      'the former url. Such an answer therefore takes about 0.4 s; adding event types, enabling and a new description are answered at once. ' +
      'Deliveries that have already failed keep their schedule, their url and their body.',
    audit: { action: 'subscription.changed', on: onSubscription },
    params,
    body: subscriptionChangeSchema,
    responses: { 200: { description: 'The subscription as it is now.', body: subscriptionSchema } },
    failures: ['subscription-not-found', 'invalid-webhook-url', 'unknown-event-type'],
    validate: (body, faults) => judgeSubscription(body, faults, urlRules),
    async handle({ caller, params: { id }, body: { url, eventTypes, description, enabled } }) {
      if (!isGuid(id)) throw new AppError('subscription-not-found')
      const wanted = {
        ...(url !== undefined && { url }),
        ...(eventTypes !== undefined && { eventTypes: distinct(eventTypes) }),
        ...(description !== undefined && { description }),
        ...(enabled !== undefined && { enabled }),
      }
      let before: Subscription | undefined
      const changed = await subscriptions.revise(caller.tenant, parseSubscriptionId(id), (present) => {
        before = present
        return { ...present, ...wanted }
      })
      if (takesAway(wanted, before)) await outlastLeases(performance.now())
      if (changed === undefined) throw new AppError('subscription-not-found')
      // All being so already is no reason: the request before may have died after it had made it so.
      return { status: 200, body: await withHealth(changed), isUnchanged: Object.keys(wanted).length === 0 }
    },
  }

  const remove: Route = {
    method: 'delete',
    path: `${SUBSCRIPTIONS}/{id}`,
    operationId: 'deleteSubscription',
    tag: 'subscriptions',
    summary: 'Delete a subscription',
    description:
      'No first attempt of a delivery leaves after the answer, which therefore takes about 0.4 s. Deliveries that have already failed and wait for a retry keep ' +
      'their schedule; an answer with a 4xx that is not retried parks them.',
    audit: { action: 'subscription.deleted', on: onSubscription },
    params,
    responses: { 204: { description: 'Deleted.' } },
    failures: ['subscription-not-found'],
    async handle({ caller, params: { id } }) {
      if (!isGuid(id)) throw new AppError('subscription-not-found')
      const removed = await subscriptions.remove(caller.tenant, parseSubscriptionId(id))
      // A 404 as well: the subscription may have been deleted a moment ago by a request whose answer is still waiting.
      await outlastLeases(performance.now())
      if (!removed) throw new AppError('subscription-not-found')
      return { status: 204 }
    },
  }

  return [create, list, read, change, remove]
}

const distinct = (eventTypes: readonly EventType[]): EventType[] => [...new Set(eventTypes)]
