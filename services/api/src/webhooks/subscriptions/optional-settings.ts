import type { Subscription } from '@switchhook/contracts'
import { flag, integer, momentOrNull, orNull } from '../../http/schema.ts'
import { filterSchema } from './filter-schema.ts'

/** Visible ASCII, so that it needs no care in scripts, urls and logs. */
export const EXTERNAL_ID = { maxLength: 255, pattern: '^[!-~]+$', examples: ['crm-production'] } as const

const limit = (description: string, example: number) =>
  ({ type: ['integer', 'null'], minimum: 1, maximum: 1_000, description, examples: [example] }) as const

/**
 * The optional settings of a subscription, each with its schema. Creating, changing and reading a subscription, its ETag and
 * the documents follow from this table. In a request, null removes a setting; reading shows null for one that is not set.
 */
export const OPTIONAL_SETTINGS = {
  externalId: {
    type: ['string', 'null'],
    description:
      'Your own name for the subscription, unique among those of the tenant. A script that creates it twice gets 409 `external-id-taken` instead of a ' +
      'second subscription, and finds the first with `GET /webhooks/subscriptions?externalId=`.',
    ...EXTERNAL_ID,
  },
  filter: filterSchema,
  expireAfterSeconds: orNull(
    integer(
      'Deliveries of events that are older are not sent: before each attempt, the age counts from `occurredAt` of the event. Such a delivery ends as `expired` and ' +
        'is not parked. The end of a call (state 7), notices, tests, and deliveries that you send again or ask for never expire. Use it once all services ' +
        'are new.',
      300,
      { minimum: 10, maximum: 86_400 },
    ),
  ),
  paused: orNull(
    flag(
      'While true, nothing is sent: deliveries are held, in their slot and with their body, for up to the retention time of parked deliveries. Set it to false to ' +
        'resume, which also ends `pausedUntil`; what was held is then sent, the longest held first. Unlike with `enabled: false`, no event is lost.',
      false,
    ),
  ),
  pausedUntil: momentOrNull(
    'Until this time the subscription is paused, like with `paused`. It then resumes automatically. A time in the past pauses nothing; the answer warns of a new one. null: not paused for a time.',
    null,
  ),
  deleteAfterUnusedSeconds: orNull(
    integer(
      'The subscription is deleted when no client has asked for its deliveries for so long, and none has a lease. Time in which the API is unavailable does not count. Only for pull subscriptions.',
      null,
      { minimum: 60, maximum: 604_800 },
    ),
  ),
  recoverRejected: orNull(
    flag(
      'While true, deliveries that the endpoint rejected (`parkedReason` `rejected`) are sent again after its next 2xx, by a recovery that starts automatically: each delivery ' +
        'at most once, at most one recovery every five minutes, and it ends as soon as a delivery is parked again. What was rejected before the setting stays parked. Not for pull subscriptions.',
      false,
    ),
  ),
  maxInFlight: limit(
    'How many attempts may be in progress at a time, over all workers. Deliveries beyond it are held, and sent as attempts end. Not for pull subscriptions.',
    4,
  ),
  maxPerSecond: limit(
    'How many attempts may begin in any second, over all workers. Deliveries beyond it are held, and sent as time passes. Not for pull subscriptions.',
    20,
  ),
} as const

export type OptionalSetting = keyof typeof OPTIONAL_SETTINGS

/** Those that are on or off. */
const SWITCHES = ['paused', 'recoverRejected'] as const
type Switch = (typeof SWITCHES)[number]

/** As clients send and see them. */
export type OptionalSettings = {
  readonly [Name in OptionalSetting]: NonNullable<Subscription[Name]> | null | (Name extends Switch ? boolean : never)
}

const NAMES = Object.keys(OPTIONAL_SETTINGS) as readonly OptionalSetting[]

export const shownSettings = (subscription: Subscription): OptionalSettings =>
  Object.fromEntries(
    NAMES.map((name) => [name, subscription[name] ?? (SWITCHES.some((each) => each === name) ? false : null)]),
  ) as unknown as OptionalSettings

/**
 * The change of the stored subscription that a request asks for: undefined for a setting that it removes or switches off.
 * `paused: false` or null resumes, so it also ends a pause until a time.
 */
export function wantedSettings(body: Partial<OptionalSettings>): Pick<Subscription, OptionalSetting> {
  const asked = body.paused === undefined || body.paused ? body : { pausedUntil: null, ...body }
  return Object.fromEntries(
    NAMES.flatMap((name) => (asked[name] === undefined ? [] : [[name, asked[name] || undefined]])),
  )
}

/**
 * Warnings of the answer to a request that sets a pause until a time in the past.
 * @param present the stored time: a subscription that was read can be sent back after its pause
 */
export function pauseWarnings(
  { pausedUntil }: Pick<Subscription, 'pausedUntil'>,
  present: string | undefined,
  nowMs: number,
) {
  const isOver = pausedUntil !== undefined && pausedUntil !== present && Date.parse(pausedUntil) <= nowMs
  return isOver ? [PAUSE_OVER] : []
}

const PAUSE_OVER = { code: 'pause-over', detail: 'pausedUntil is in the past, so it pauses nothing.' }
