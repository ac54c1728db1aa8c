import {
  AppError,
  distinctTypes,
  isGuid,
  parseSubscriptionId,
  type Subscription,
  type SubscriptionId,
} from '@switchhook/contracts'
import { inChunks, type StateStore, type SubscriptionStore } from '@switchhook/store'
import type { ApiConfig } from '../../config.ts'
import { type Caller, type RouteOf, reads, searches } from '../../http/route.ts'
import { type QueryOf, text } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { watchUse } from './delete-unused.ts'
import { HEALTHY } from './endpoint-health.ts'
import { type OptionalSettings, pauseWarnings, wantedSettings } from './optional-settings.ts'
import { type HeadersRequest, mergedHeaders } from './own-headers.ts'
import {
  createdSubscriptionSchema,
  etagHeader,
  MAX_PAGE,
  newSubscriptionSchema,
  subscriptionIdSchema,
  subscriptionPageQuery,
  subscriptionSchema,
} from './subscription-schema.ts'
import { newSealedSecret, openSecret } from './subscription-secrets.ts'
import { answerWith, largeOf, NO_PULLERS, NONE_HELD, noneParked, tagOf, viewOf } from './subscription-view.ts'
import { INVALID_SUBSCRIPTION, roleForNew, validateNewSubscription } from './validate-subscription.ts'
import type { WebhookUrlRules } from './webhook-url.ts'

export interface SubscriptionRouteDeps
  extends Pick<
    WebhookParts,
    | 'subscriptions'
    | 'held'
    | 'pullers'
    | 'rejections'
    | 'parkedCounts'
    | 'healthOf'
    | 'vault'
    | 'now'
    | 'redisNow'
    | 'log'
  > {
  readonly config: Pick<ApiConfig, 'PARKED_LIMIT_PER_SUBSCRIPTION'>
  readonly urlRules: WebhookUrlRules
  /** Sets the timer of `deleteAfterUnusedSeconds`. */
  readonly state: Pick<StateStore, 'commit'>
}

interface NewSubscription
  extends Pick<Subscription, 'eventTypes'>,
    Partial<Pick<Subscription, 'description' | 'enabled'>>,
    Partial<OptionalSettings>,
    HeadersRequest {
  readonly mode?: 'post' | 'pull'
}

export type SubscriptionChange = Omit<Partial<NewSubscription>, 'mode'>

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'

/** The path of a route of one subscription, and its parameter `id`. */
export const ofSubscription = (rest = '') => ({
  path: `${SUBSCRIPTIONS}/{id}${rest}`,
  params: { id: subscriptionIdSchema },
})

/** @throws AppError `subscription-not-found` for a malformed id, which no subscription has */
export function subscriptionIdOf(id: string | undefined): SubscriptionId {
  if (isGuid(id)) return parseSubscriptionId(id)
  throw new AppError('subscription-not-found')
}

/**
 * @throws AppError `subscription-not-found`, also for a malformed id and for a subscription of another tenant;
 * `subscription-disabled` or `subscription-not-pull` if it must be enabled, or a pull subscription, and is not
 */
export async function findSubscription(
  subscriptions: Pick<SubscriptionStore, 'find'>,
  { tenant }: Caller,
  id: string | undefined,
  must: { readonly beEnabled?: true; readonly bePull?: true } = {},
): Promise<Subscription> {
  const found = await subscriptions.find(tenant, subscriptionIdOf(id))
  if (found === undefined) throw new AppError('subscription-not-found')
  if (must.beEnabled && !found.enabled) throw new AppError('subscription-disabled')
  if (must.bePull && found.mode !== 'pull') throw new AppError('subscription-not-pull')
  return found
}

export async function withHealth(deps: SubscriptionRouteDeps, subscription: Subscription) {
  const [health, counts, counted, pulled] = await Promise.all([
    deps.healthOf(subscription),
    deps.parkedCounts.count(subscription.id),
    deps.held.count(subscription.id),
    subscription.mode === 'pull' ? deps.pullers.find(subscription.id, deps.now()) : NO_PULLERS,
  ])
  const parked = { ...counts, limit: deps.config.PARKED_LIMIT_PER_SUBSCRIPTION }
  return viewOf(subscription, health, parked, { ...counted, ...pulled }, deps.now())
}

/** As they are now; null once the subscription is deleted. */
export async function rereadLarge({ tenant }: Caller, body: unknown, deps: SubscriptionRouteDeps) {
  const found = await deps.subscriptions.find(tenant, (body as Pick<Subscription, 'id'>).id)
  return found === undefined ? {} : largeOf(await withHealth(deps, found))
}

export const createSubscription: RouteOf<SubscriptionRouteDeps, NewSubscription> = {
  method: 'post',
  path: SUBSCRIPTIONS,
  operationId: 'createSubscription',
  tag: 'subscriptions',
  role: 'operator',
  roleFor: roleForNew,
  summary: 'Create a subscription',
  description:
    'Subscribes an endpoint to event types, or with `mode: pull` clients that receive the deliveries. Needs the role `admin`, except for a pull subscription with `deleteAfterUnusedSeconds`. The subscription is enabled immediately unless you send `enabled: false`. Store the `secret` of the answer: it signs ' +
    'the deliveries, and no later answer shows it. If `url` or `eventTypes` is invalid, the error lists the known event types.',
  idempotent: true,
  audit: { action: 'subscription.created', ids: ['subscriptionId'] },
  body: newSubscriptionSchema,
  responses: {
    201: {
      description: 'The subscription was created.',
      body: createdSubscriptionSchema,
      headers: { Location: { type: 'string', description: 'The path of the new subscription.' }, ETag: etagHeader },
    },
  },
  failures: [...INVALID_SUBSCRIPTION, 'too-many-subscriptions', 'external-id-taken'],
  validate: (body, faults, { urlRules }) => validateNewSubscription(body, faults, urlRules),
  async handle({ caller, body, idFor }, { subscriptions, state, config, vault, now, redisNow }) {
    const owner = { id: parseSubscriptionId(idFor('subscription')), tenant: caller.tenant }
    const createdAt = new Date(now()).toISOString()
    const settings = wantedSettings(body)
    await watchUse(state, { ...owner, ...settings }, redisNow())
    const created = await subscriptions.create({
      ...owner,
      ...(body.mode === 'pull' && { mode: 'pull' }),
      url: body.url ?? '',
      eventTypes: distinctTypes(body.eventTypes),
      description: body.description ?? null,
      ...settings,
      ...(body.headers && { headers: mergedHeaders(vault, owner, body) }),
      enabled: body.enabled ?? true,
      createdAt,
      signing: { id: idFor('secret'), secret: newSealedSecret(vault, owner), since: createdAt, former: [] },
    })
    const parked = noneParked(config.PARKED_LIMIT_PER_SUBSCRIPTION)
    const view = viewOf(created, HEALTHY, parked, { ...NONE_HELD, ...NO_PULLERS }, now())
    return {
      status: 201,
      ...answerWith(view, pauseWarnings(settings, undefined, now())),
      confidential: { secret: openSecret(vault, created) },
      headers: { Location: `${SUBSCRIPTIONS}/${created.id}`, ETag: tagOf(created) },
    }
  },
  reread: rereadLarge,
}

export const listSubscriptions: RouteOf<SubscriptionRouteDeps, undefined, QueryOf<typeof subscriptionPageQuery>> = {
  ...searches('subscriptions'),
  path: SUBSCRIPTIONS,
  operationId: 'listSubscriptions',
  summary: 'List subscriptions',
  description:
    "Lists the tenant's subscriptions, the oldest first (by `createdAt`, then `id`). If there are more, the header `Next-Cursor` has the " +
    '`cursor` of the next page; a page can have fewer than `limit`. Creating or deleting subscriptions meanwhile does not move others to another page.',
  query: subscriptionPageQuery,
  responses: {
    200: {
      description: 'A page of subscriptions.',
      body: { type: 'array', description: 'The subscriptions.', items: subscriptionSchema, maxItems: MAX_PAGE },
      headers: {
        'Next-Cursor': text(
          'The `cursor` of the next page, like `nextCursor` of other lists: the specification makes this one an array. Absent on the last page.',
          'MjAyNi0xMS0yMFQxNzowNjowMS4xNzNaIDRmMWMyYTllLThhNTMtNGMxZC05ZDFlLTBkNmQ2YjFmN2ExMQ',
        ),
      },
    },
  },
  async handle({ caller, query: { externalId, ...query } }, deps) {
    const { items, nextCursor } = await (externalId === undefined
      ? deps.subscriptions.page(caller.tenant, query)
      : onlyPage(await deps.subscriptions.findByExternalId(caller.tenant, externalId)))
    return {
      status: 200,
      body: await inChunks(items, (subscription) => withHealth(deps, subscription)),
      ...(nextCursor !== null && { headers: { 'Next-Cursor': nextCursor } }),
    }
  },
}

export const readSubscription: RouteOf<SubscriptionRouteDeps> = {
  ...reads('subscriptions'),
  ...ofSubscription(),
  operationId: 'readSubscription',
  summary: 'Read a subscription',
  description:
    'Returns a subscription with the health of its endpoint, the numbers of its parked and held deliveries, and who receives them.',
  responses: { 200: { description: 'The subscription.', body: subscriptionSchema, headers: { ETag: etagHeader } } },
  failures: ['subscription-not-found'],
  async handle({ caller, params: { id } }, deps) {
    const found = await findSubscription(deps.subscriptions, caller, id)
    return { status: 200, body: await withHealth(deps, found), headers: { ETag: tagOf(found) } }
  },
}

const onlyPage = (found: Subscription | undefined) => ({ items: found === undefined ? [] : [found], nextCursor: null })
