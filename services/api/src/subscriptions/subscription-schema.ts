import { EVENT_TYPES, type Subscription, UNREACHABLE_REASONS } from '@switchhook/contracts'
import type { Contact, EndpointHealth, ParkedCount } from '@switchhook/store'
import { component } from '../http/component.ts'
import { WHY_NO_ANSWER } from './endpoint-health-schema.ts'
import { type SigningView, secretSchema, signingSchema, signingViewOf } from './signing-schema.ts'
import { MAX_URL_LENGTH } from './webhook-url.ts'

/** A subscription as clients see it: without the tenant, which is always their own, and without its secrets. */
export type SubscriptionView = Omit<Subscription, 'tenant' | 'signing'> & {
  readonly signing: SigningView
  readonly health: {
    readonly state: EndpointHealth['state']
    readonly consecutiveFailures: number
    readonly openUntil: string | null
    readonly lastSuccessAt: string | null
    readonly lastFailureAt: string | null
    readonly lastFailureOutcome: string | null
    readonly lastFailureStatus: number | null
  }
  readonly parked: ParkedView
}

interface ParkedView {
  readonly count: number
  readonly limit: number
  readonly withoutBody: number
  readonly dropped: number
}

/** How many deliveries of a subscription are parked, and how many may keep their body. */
export type Parked = Pick<ParkedCount, 'count' | 'withoutBody' | 'dropped'> & { readonly limit: number }

export const noneParked = (limit: number): Parked => ({ count: 0, limit, withoutBody: 0, dropped: 0 })

/** What is known of an endpoint. */
export type Health = EndpointHealth & Contact

/** Nobody has complained of it, and nothing was sent yet. */
export const HEALTHY: Health = {
  state: 'closed',
  consecutiveFailures: 0,
  openUntilMs: null,
  successAtMs: null,
  failureAtMs: null,
  failure: null,
}

export const viewOf = (
  { id, url, eventTypes, description, enabled, createdAt, signing }: Subscription,
  { state, consecutiveFailures, openUntilMs, successAtMs, failureAtMs, failure }: Health,
  { count, limit, withoutBody, dropped }: Parked,
  nowMs: number,
): SubscriptionView => ({
  id,
  url,
  eventTypes,
  description,
  enabled,
  createdAt,
  signing: signingViewOf(signing, nowMs),
  health: {
    state,
    consecutiveFailures,
    openUntil: momentOf(openUntilMs),
    lastSuccessAt: momentOf(successAtMs),
    lastFailureAt: momentOf(failureAtMs),
    lastFailureOutcome: failure?.outcome ?? null,
    lastFailureStatus: failure?.status ?? null,
  },
  parked: { count, limit, withoutBody, dropped },
})

const momentOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

const MAX_DESCRIPTION_LENGTH = 1024

const EXAMPLE_URL = 'https://client.example/hooks/calls'

const url = {
  type: 'string',
  description:
    'The endpoint that receives the deliveries: an absolute http or https url (https only in production, unless configured otherwise), ' +
    'without credentials, a fragment, blanks, control characters or backslashes. Refused is an address that is private, loopback, link-local, ' +
    'multicast or reserved otherwise, in whatever spelling, and `localhost`, but for networks that the installation allows. A name is not looked up ' +
    'here: what it resolves to is judged by the same rule at each attempt, which then comes to `blocked`. Kept as written.',
  maxLength: MAX_URL_LENGTH,
  examples: [EXAMPLE_URL],
} as const

const eventTypes = {
  type: 'array',
  description: 'The event types that make deliveries. One that is named twice counts once.',
  items: component('EventType', { type: 'string', description: 'What can be subscribed to.', enum: EVENT_TYPES }),
  minItems: 1,
  examples: [['call.status']],
} as const

const description = {
  type: ['string', 'null'],
  description: 'A label of your own.',
  maxLength: MAX_DESCRIPTION_LENGTH,
  examples: ['CRM, production'],
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
  description: "A tenant's wish to receive events at a url.",
  required: ['id', 'url', 'eventTypes', 'description', 'enabled', 'createdAt', 'signing', 'health', 'parked'],
  properties: {
    id: subscriptionIdSchema,
    url,
    eventTypes,
    description,
    enabled,
    createdAt: {
      type: 'string',
      format: 'date-time',
      description: 'When it was created, in UTC.',
      examples: ['2026-11-20T17:06:01.173Z'],
    },
    signing: signingSchema,
    health: component('EndpointHealth', {
      type: 'object',
      description:
        'Whether the endpoint is contacted. After 5 transient failures in a row it is not, for a cool-down of 30 s (an installation may have other numbers), and then one attempt decides; deliveries that fall due meanwhile wait for their next slot, tests (`…/test`) among them. A check (`…/check`) goes out all the same, and does not end the cool-down. An endpoint is never disabled because it fails.',
      required: [
        'state',
        'consecutiveFailures',
        'openUntil',
        'lastSuccessAt',
        'lastFailureAt',
        'lastFailureOutcome',
        'lastFailureStatus',
      ],
      properties: {
        state: {
          type: 'string',
          enum: ['closed', 'open', 'probing'],
          description:
            'closed: contacted as ever; open: in its cool-down; probing: the cool-down is over, and the next attempt decides.',
          examples: ['closed'],
        },
        consecutiveFailures: {
          type: 'integer',
          minimum: 0,
          description: 'Transient failures in a row, over all deliveries.',
          examples: [0],
        },
        openUntil: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'When the cool-down ends, or has ended; null while closed.',
          examples: [null],
        },
        lastSuccessAt: {
          type: ['string', 'null'],
          format: 'date-time',
          description:
            'When it last acknowledged a delivery; null: not within the last 90 days. An attempt shows here some seconds after it was made.',
          examples: ['2026-11-20T17:06:01.173Z'],
        },
        lastFailureAt: {
          type: ['string', 'null'],
          format: 'date-time',
          description:
            'When an attempt last failed, or was answered with another status than a 2xx; null: not within the last 90 days. An attempt ' +
            'shows here some seconds after it was made.',
          examples: [null],
        },
        lastFailureOutcome: {
          type: ['string', 'null'],
          enum: ['answered', ...UNREACHABLE_REASONS, null],
          description: `What the attempt of \`lastFailureAt\` came to; null with it. \`answered\`: see \`lastFailureStatus\`. ${WHY_NO_ANSWER}`,
          examples: [null],
        },
        lastFailureStatus: {
          type: ['integer', 'null'],
          description: 'The HTTP status of the attempt of `lastFailureAt`; null where there was none, or no answer.',
          examples: [null],
        },
      },
    }),
    parked: component('ParkedDeliveries', {
      type: 'object',
      description:
        'The parked deliveries of the subscription. The newest keep their body, as many as `limit` says, or fewer while the tenant as a whole has ' +
        'too many. Beyond that the oldest lose their body first: they can be read, and not sent again. Of the deliveries without a body as many are ' +
        'kept again; older ones are dropped. An event of type `webhook.parked.limit` says when the limit is crossed.',
      required: ['count', 'limit', 'withoutBody', 'dropped'],
      properties: {
        count: {
          type: 'integer',
          minimum: 0,
          description:
            'How many are parked now, those without a body included. A few that have just moved on may count.',
          examples: [3],
        },
        limit: {
          type: 'integer',
          minimum: 1,
          description: 'How many keep their body.',
          examples: [100_000],
        },
        withoutBody: {
          type: 'integer',
          minimum: 0,
          description: 'How many of `count` have lost their body, and cannot be sent again.',
          examples: [0],
        },
        dropped: {
          type: 'integer',
          minimum: 0,
          description:
            'How many were dropped. The number is forgotten when none was dropped or lost its body for as long as parked deliveries are kept (30 days by default).',
          examples: [0],
        },
      },
    }),
  },
})

export const createdSubscriptionSchema = component('CreatedSubscription', {
  ...subscriptionSchema,
  description: 'The subscription, and the secret that its deliveries are signed with.',
  required: [...subscriptionSchema.required, 'secret'],
  properties: { ...subscriptionSchema.properties, secret: secretSchema },
})

export const newSubscriptionSchema = component('NewSubscription', {
  type: 'object',
  description: 'Members that are not named here are ignored.',
  required: ['url', 'eventTypes'],
  properties: {
    url,
    eventTypes,
    description,
    enabled: {
      ...enabled,
      default: true,
      description: `${enabled.description} false: it gets none until it is switched on; what happens before is not sent.`,
    },
  },
  examples: [{ url: EXAMPLE_URL, eventTypes: ['call.status'], description: 'CRM, production' }],
})

export const subscriptionChangeSchema = component('SubscriptionChange', {
  type: 'object',
  description: 'Members that are left out stay as they are; those that are not named here are ignored.',
  properties: { url, eventTypes, description, enabled },
  examples: [{ enabled: false }],
})
