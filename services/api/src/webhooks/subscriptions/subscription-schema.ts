import { EVENT_TYPES, type Subscription } from '@switchhook/contracts'
import type { Contacts, EndpointHealth, ParkedCount } from '@switchhook/store'
import { component } from '../../http/component.ts'
import { entityTagOf } from '../../http/entity-tag.ts'
import { endpointHealthSchema } from './endpoint-health-schema.ts'
import { type SigningView, secretSchema, signingSchema, signingViewOf } from './signing-schema.ts'
import { MAX_URL_LENGTH } from './webhook-url.ts'

/** A subscription as clients see it: without its tenant, which is always the caller's, and without its secrets. */
export type SubscriptionView = Omit<Subscription, 'tenant' | 'signing' | 'externalId'> & {
  readonly externalId: string | null
  readonly signing: SigningView
  readonly health: {
    readonly state: EndpointHealth['state']
    readonly consecutiveFailures: number
    readonly openUntil: string | null
    readonly lastSuccessAt: string | null
    readonly lastFailureAt: string | null
    readonly lastFailureOutcome: string | null
    readonly lastFailureStatus: number | null
    readonly failingSince: string | null
  }
  readonly parked: ParkedView
}

interface ParkedView {
  readonly count: number
  readonly limit: number
  readonly withoutBody: number
  readonly dropped: number
}

/** The number of parked deliveries of a subscription, and how many of them may keep their body. */
export type Parked = Pick<ParkedCount, 'count' | 'withoutBody' | 'dropped'> & { readonly limit: number }

export const noneParked = (limit: number): Parked => ({ count: 0, limit, withoutBody: 0, dropped: 0 })

/** The circuit breaker's state of an endpoint, and its last success and failure. */
export type Health = EndpointHealth & Contacts

/** A new endpoint: no delivery was sent yet. */
export const HEALTHY: Health = {
  state: 'closed',
  consecutiveFailures: 0,
  openUntilMs: null,
  successAtMs: null,
  failureAtMs: null,
  failure: null,
  failingSinceMs: null,
}

export const viewOf = (
  { id, url, eventTypes, description, externalId, enabled, createdAt, signing }: Subscription,
  health: Health,
  { count, limit, withoutBody, dropped }: Parked,
  nowMs: number,
): SubscriptionView => ({
  id,
  url,
  eventTypes,
  description,
  externalId: externalId ?? null,
  enabled,
  createdAt,
  signing: signingViewOf(signing, nowMs),
  health: healthViewOf(health),
  parked: { count, limit, withoutBody, dropped },
})

export const healthViewOf = ({
  state,
  consecutiveFailures,
  openUntilMs,
  successAtMs,
  failureAtMs,
  failure,
  failingSinceMs,
}: Health): SubscriptionView['health'] => ({
  state,
  consecutiveFailures,
  openUntil: momentOf(openUntilMs),
  lastSuccessAt: momentOf(successAtMs),
  lastFailureAt: momentOf(failureAtMs),
  lastFailureOutcome: failure?.outcome ?? null,
  lastFailureStatus: failure?.status ?? null,
  failingSince: momentOf(failingSinceMs),
})

const momentOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const MAX_DESCRIPTION_LENGTH = 1024

const EXAMPLE_URL = 'https://client.example/hooks/calls'

const url = {
  type: 'string',
  description:
    'The endpoint that receives the deliveries: an absolute http or https url (in production https only, unless configured otherwise) ' +
    'without credentials, fragment, whitespace, control characters or backslashes. `localhost` and private, loopback, link-local, ' +
    'multicast or reserved addresses are rejected in every spelling, unless the installation allows their network. Host names are not resolved here; ' +
    'each attempt checks the resolved address by the same rule and fails as `blocked` if it is not allowed. The url is stored as written.',
  maxLength: MAX_URL_LENGTH,
  // No `format: uri`: an address may have letters beyond ASCII.
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\]',
  examples: [EXAMPLE_URL],
} as const

const eventTypes = {
  type: 'array',
  description: 'The event types to deliver. Duplicates are removed.',
  items: component('EventType', { type: 'string', description: 'An event type.', enum: EVENT_TYPES }),
  minItems: 1,
  examples: [['call.status']],
} as const

const description = {
  type: ['string', 'null'],
  description: 'A label of your choice.',
  maxLength: MAX_DESCRIPTION_LENGTH,
  examples: ['CRM, production'],
} as const

/** Visible ASCII, so that it needs no care in scripts, urls and logs. */
const EXTERNAL_ID = { maxLength: 255, pattern: '^[!-~]+$', examples: ['crm-production'] } as const

const externalId = {
  type: ['string', 'null'],
  description:
    'Your own name for the subscription, unique among those of the tenant. A script that creates it twice gets 409 `external-id-taken` instead of a ' +
    'second subscription, and finds the first with `GET /webhooks/subscriptions?externalId=`.',
  ...EXTERNAL_ID,
} as const

const enabled = {
  type: 'boolean',
  description: 'Only an enabled subscription receives deliveries.',
  examples: [true],
} as const

export const subscriptionIdSchema = {
  type: 'string',
  format: 'uuid',
  description: 'The id of the subscription.',
  examples: ['4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11'],
} as const

export const subscriptionSchema = component('Subscription', {
  type: 'object',
  description: 'Delivers events of the chosen types to an endpoint.',
  required: [
    'id',
    'url',
    'eventTypes',
    'description',
    'externalId',
    'enabled',
    'createdAt',
    'signing',
    'health',
    'parked',
  ],
  properties: {
    id: subscriptionIdSchema,
    url,
    eventTypes,
    description,
    externalId,
    enabled,
    createdAt: {
      type: 'string',
      format: 'date-time',
      description: 'When the subscription was created, in UTC.',
      examples: ['2026-11-20T17:06:01.173Z'],
    },
    signing: signingSchema,
    health: endpointHealthSchema,
    parked: component('ParkedDeliveries', {
      type: 'object',
      description:
        'The parked deliveries of the subscription. The newest `limit` deliveries keep their body; fewer if the tenant as a whole has ' +
        'too many parked deliveries. Older ones lose their body: you can read them, but not send them again. The newest `limit` deliveries without a body are ' +
        'kept; older ones are dropped. A `webhook.parked.limit` event reports that the limit was exceeded.',
      required: ['count', 'limit', 'withoutBody', 'dropped'],
      properties: {
        count: {
          type: 'integer',
          minimum: 0,
          description:
            'The number of parked deliveries, including those without a body. It can briefly include deliveries that are no longer parked.',
          examples: [3],
        },
        limit: {
          type: 'integer',
          minimum: 1,
          description: 'The number of parked deliveries that keep their body.',
          examples: [100_000],
        },
        withoutBody: {
          type: 'integer',
          minimum: 0,
          description: 'The number of parked deliveries without a body. They cannot be sent again.',
          examples: [0],
        },
        dropped: {
          type: 'integer',
          minimum: 0,
          description:
            'The number of dropped deliveries. It is reset when no delivery was dropped or lost its body for the retention time of parked deliveries (30 days by default).',
          examples: [0],
        },
      },
    }),
  },
})

export const createdSubscriptionSchema = component('CreatedSubscription', {
  ...subscriptionSchema,
  description: 'The subscription, with the secret that signs its deliveries.',
  required: [...subscriptionSchema.required, 'secret'],
  properties: { ...subscriptionSchema.properties, secret: secretSchema },
})

const writable = { url, eventTypes, description, externalId, enabled }

/** The other fields of a subscription. They are ignored, so that a subscription that was read can be sent back. */
const readOnly = Object.fromEntries(
  Object.keys(subscriptionSchema.properties)
    .filter((name) => !(name in writable))
    .map((name) => [name, { readOnly: true, description: 'Set by the service; ignored in a request.' }]),
)

const REJECTED = 'Unknown fields are rejected, because a misspelt field would change what is delivered.'

export const newSubscriptionSchema = component('NewSubscription', {
  type: 'object',
  description: `A new subscription. The fields that only the service sets are ignored. ${REJECTED}`,
  required: ['url', 'eventTypes'],
  additionalProperties: false,
  properties: {
    ...writable,
    enabled: {
      ...enabled,
      default: true,
      description: `${enabled.description} Events from before it is enabled are not sent later.`,
    },
    ...readOnly,
  },
  examples: [{ url: EXAMPLE_URL, eventTypes: ['call.status'], description: 'CRM, production' }],
})

export const subscriptionChangeSchema = component('SubscriptionChange', {
  type: 'object',
  description: `The fields to change. Omitted fields keep their value, and the fields that only the service sets are ignored. ${REJECTED}`,
  additionalProperties: false,
  properties: { ...writable, ...readOnly },
  examples: [{ enabled: false }],
})

/** Covers what a client could overwrite, and the secret. Health and parked deliveries change with every delivery. */
export const tagOf = ({ id, url, eventTypes, description, externalId, enabled, createdAt, signing }: Subscription) =>
  // Without an external id the tag is the same as in earlier versions, which can run at the same time.
  entityTagOf([
    id,
    url,
    eventTypes,
    description,
    enabled,
    createdAt,
    signing?.id ?? null,
    ...(externalId === undefined ? [] : [externalId]),
  ])

export const etagHeader = {
  type: 'string',
  description:
    'Changes with every change of the subscription and with every rotation of its secret, not with `health` and `parked`. Send it as `If-Match` with a ' +
    '`PATCH`, `DELETE` or `rotate-secret`, so that you do not overwrite the change of another client.',
  examples: ['"yG0eTt1pQZ0M6hGm5B5m1f3Xy8Xg7b6X0f9F0Ch2kSA"'],
} as const

/** Limits an answer to about half a megabyte. */
export const MAX_PAGE = 1_000

export const subscriptionPageQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE,
    default: MAX_PAGE,
    description: 'The maximum number of subscriptions per page.',
    examples: [100],
  },
  cursor: {
    type: 'string',
    maxLength: 128,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The cursor from the `Link` header of the previous page. Cursors do not expire.',
  },
  externalId: {
    type: 'string',
    description: 'Only the subscription with this `externalId`, if there is one.',
    ...EXTERNAL_ID,
  },
} as const
