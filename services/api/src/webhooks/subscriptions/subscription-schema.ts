import { ALL_TYPES, EVENT_TYPES } from '@switchhook/contracts'
import {
  choice,
  completeComponent,
  component,
  count,
  flag,
  guid,
  integer,
  list,
  moment,
  momentOrNull,
  orNull,
  text,
} from '../../http/schema.ts'
import { endpointHealthSchema } from './endpoint-health.ts'
import { warningsSchema } from './filter-schema.ts'
import { EXTERNAL_ID, OPTIONAL_SETTINGS } from './optional-settings.ts'
import { shownHeadersSchema, wantedHeadersSchema } from './own-headers.ts'
import { secretSchema, signingSchema } from './signing-schema.ts'
import { MAX_URL_LENGTH } from './webhook-url.ts'

const MAX_DESCRIPTION_LENGTH = 1024

const EXAMPLE_URL = 'https://client.example/hooks/calls'

const url = orNull(
  text(
    'null for a pull subscription. The endpoint that receives the deliveries: an absolute http or https url (in production https only, unless configured otherwise) ' +
      'without credentials, fragment, whitespace, control characters or backslashes. `localhost` and private, loopback, link-local, ' +
      'multicast or reserved addresses are rejected in every spelling, unless the installation allows their network. Host names are not resolved here; ' +
      'each attempt checks the resolved address by the same rule and fails as `blocked` if it is not allowed. The url is stored, shown and requested as written: ' +
      'one that would be requested otherwise (`/a/../b`, a host name that is not ASCII) is rejected with the form to use.',
    EXAMPLE_URL,
    // No `format: uri`: some generators make another type than text of it.
    { maxLength: MAX_URL_LENGTH, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\]' },
  ),
)

const mode = choice(
  ['post', 'pull'],
  '`post`: deliveries are sent to `url`. `pull`: clients receive them with `POST /webhooks/subscriptions/{id}/receive`. Cannot be changed.',
  'post',
)

export const subscribedTypeSchema = component('SubscribedType', {
  type: 'string',
  description: 'An event type, or `*` for all.',
  enum: [...EVENT_TYPES, ALL_TYPES],
})

const EVENT_TYPES_TEXT =
  'The event types to deliver. `*` is all of them, those that a later version adds included, and stands alone when it is read. Duplicates are removed.'

const eventTypesExample = { minItems: 1, examples: [['call.status']] }

const eventTypes = list(EVENT_TYPES_TEXT, subscribedTypeSchema, eventTypesExample)

const description = orNull(text('A label of your choice.', 'CRM, production', { maxLength: MAX_DESCRIPTION_LENGTH }))

const enabled = flag('Only an enabled subscription receives deliveries.', true)

export const subscriptionIdSchema = guid('The id of the subscription.', '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11')

export const subscriptionSchema = completeComponent(
  'Subscription',
  'Delivers events of the chosen types to an endpoint.',
  {
    id: subscriptionIdSchema,
    mode,
    url,
    eventTypes: list(
      EVENT_TYPES_TEXT,
      { type: 'string', enum: subscribedTypeSchema.enum, description: subscribedTypeSchema.description },
      eventTypesExample,
    ),
    description,
    ...OPTIONAL_SETTINGS,
    headers: shownHeadersSchema,
    enabled,
    createdAt: moment('When the subscription was created, in UTC.'),
    warnings: warningsSchema,
    signing: signingSchema,
    health: endpointHealthSchema,
    parked: completeComponent(
      'ParkedDeliveries',
      'The parked deliveries of the subscription. The newest `limit` deliveries keep their body; fewer if the tenant as a whole has ' +
        'too many parked deliveries. Older ones lose their body: you can read them, but not send them again. The newest `limit` deliveries without a body are ' +
        'kept; older ones are dropped. A `webhook.parked.limit` event reports that the limit was exceeded.',
      {
        count: count(
          'The number of parked deliveries, including those without a body. It can briefly include deliveries that are no longer parked.',
          3,
        ),
        limit: count('The number of parked deliveries that keep their body.', 100_000, 1),
        withoutBody: count('The number of parked deliveries without a body. They cannot be sent again.', 0),
        dropped: count(
          'The number of dropped deliveries. It is reset when no delivery was dropped or lost its body for the retention time of parked deliveries (30 days by default).',
          0,
        ),
      },
    ),
    held: completeComponent(
      'HeldDeliveries',
      'The deliveries that are held: those of a pull subscription, those beyond `maxInFlight` or `maxPerSecond`, and those of a paused subscription, until a moment after it was resumed. At most as ' +
        'many as `parked.limit`; beyond that, those that have been held for longest are parked.',
      {
        count: count('The number of held deliveries.', 0),
        leased: count('How many of them a client has received. They are leased to it.', 0),
        oldestAt: momentOrNull('Since when the oldest of the others has been due, in UTC; null: there is none.', null),
        lastReceivedAt: momentOrNull(
          'When a client last asked for deliveries, in UTC, to within 30 seconds; null: not within 38 days, or the subscription is not a pull subscription.',
          null,
        ),
      },
    ),
    receivers: list(
      'The clients that asked for the deliveries of a pull subscription within the last minute, the latest first.',
      completeComponent('SubscriptionReceiver', 'A client that receives deliveries.', {
        clientId: text('The client or person, as its token names it.', 'crm'),
        since: moment('Since when it has asked without a pause of a minute, in UTC.'),
        lastAt: moment('When it last asked, in UTC, to within 30 seconds.', '2026-11-20T17:06:31.173Z'),
      }),
      { maxItems: 20 },
    ),
  },
)

export const createdSubscriptionSchema = completeComponent(
  'CreatedSubscription',
  'The subscription, with the secret that signs its deliveries.',
  { ...subscriptionSchema.properties, secret: secretSchema },
)

const writable = { url, eventTypes, description, ...OPTIONAL_SETTINGS, headers: wantedHeadersSchema, enabled }

/** The other fields of a subscription. They are ignored, so that a subscription that was read can be sent back. */
const readOnly = Object.fromEntries(
  Object.keys(subscriptionSchema.properties)
    .filter((name) => !(name in writable))
    .map((name) => [name, { readOnly: true, description: 'Set by the service; ignored in a request.' }]),
)

const { mode: _, ...withoutMode } = readOnly

const REJECTED = 'Unknown fields are rejected, because a misspelt field would change what is delivered.'

export const newSubscriptionSchema = component('SubscriptionInput', {
  type: 'object',
  description: `A new subscription: with \`url\`, or with \`mode: pull\`. The fields that only the service sets are ignored. ${REJECTED}`,
  required: ['eventTypes'],
  additionalProperties: false,
  properties: {
    mode: { ...mode, default: 'post' },
    ...writable,
    enabled: {
      ...enabled,
      default: true,
      description: `${enabled.description} Events from before it is enabled are not sent later.`,
    },
    ...withoutMode,
  },
  examples: [
    { url: EXAMPLE_URL, eventTypes: ['call.status'], description: 'CRM, production' },
    { mode: 'pull', eventTypes: ['call.status'], deleteAfterUnusedSeconds: 604_800 },
  ],
})

export const subscriptionChangeSchema = component('SubscriptionChange', {
  type: 'object',
  description: `The fields to change. Omitted fields keep their value, and the fields that only the service sets are ignored. ${REJECTED}`,
  additionalProperties: false,
  properties: {
    ...writable,
    // Generated clients in Java send an empty list for one that was not set, unless it can be null.
    eventTypes: { ...orNull(eventTypes), description: `${EVENT_TYPES_TEXT} null: unchanged.` },
    ...readOnly,
    mode: { ...mode, description: `${mode.description} A request that sends another value answers 400.` },
  },
  examples: [{ enabled: false }],
})

export const etagHeader = text(
  'Changes with every change of the subscription and with every rotation of its secret, not with `health`, `parked`, `held` and `receivers`. Send it as `If-Match` with a ' +
    '`PATCH`, `DELETE` or `rotate-secret`, so that you do not overwrite the change of another client.',
  '"yG0eTt1pQZ0M6hGm5B5m1f3Xy8Xg7b6X0f9F0Ch2kSA"',
)

/** Limits an answer to about half a megabyte. */
export const MAX_PAGE = 1_000

export const subscriptionPageQuery = {
  limit: integer('The maximum number of subscriptions per page.', 100, {
    minimum: 1,
    maximum: MAX_PAGE,
    default: MAX_PAGE,
  }),
  cursor: {
    type: 'string',
    maxLength: 128,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `Next-Cursor` header of the previous page. Cursors do not expire.',
  },
  externalId: {
    type: 'string',
    description: 'Only the subscription with this `externalId`, if there is one.',
    ...EXTERNAL_ID,
  },
} as const
