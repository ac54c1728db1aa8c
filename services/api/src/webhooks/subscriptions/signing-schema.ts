import { formerValidUntil, type Signing } from '@switchhook/contracts'
import { choice, completeComponent, component, momentOrNull, text } from '../../http/schema.ts'

/** The signing of a subscription as clients see it: without the secret, sealed or not. */
export const signingViewOf = (signing: Signing | undefined, nowMs: number) =>
  signing === undefined
    ? { state: 'unsigned', since: null, previousValidUntil: null }
    : { state: 'signed', since: signing.since, previousValidUntil: formerValidUntil(signing, nowMs) }

const previousValidUntil = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'When the last previous secret stops signing, in UTC; null if only the current secret signs.',
  examples: ['2026-11-21T17:06:01.173Z', null],
} as const

export const secretSchema = text(
  'The secret that signs the deliveries according to Standard Webhooks (HMAC-SHA256, `v1`). Pass it to your verification library unchanged, and ' +
    'store it like a password: no other answer shows it. Only a repeat of this request with the same `Idempotency-Key` returns it again, for 24 hours.',
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9VbFQ2m4dXk=',
  { pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$' },
)

export const signingSchema = completeComponent(
  'SubscriptionSigning',
  'How the deliveries are signed. The secret is not shown.',
  {
    state: choice(
      ['signed', 'unsigned'],
      '`signed`: deliveries carry a signature. `unsigned`: the subscription was created by a version without signatures and has no secret. Call `rotate-secret` to sign its deliveries.',
      'signed',
    ),
    since: momentOrNull('When the current secret was created, in UTC; null if there is none.'),
    previousValidUntil: { ...previousValidUntil, examples: [null] },
  },
)

/** A week, as comparable services allow. */
const MAX_OVERLAP_SECONDS = 7 * 86_400

export const rotationSchema = component('SecretRotation', {
  type: 'object',
  description: 'Unknown fields are rejected, because a misspelt `overlapSeconds` would keep a leaked secret valid.',
  additionalProperties: false,
  properties: {
    overlapSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description:
        'How many seconds the previous secrets keep signing. This never extends the time of an older secret. Send 0 if a secret has ' +
        'leaked: only the new one signs then. If omitted, the installation decides (24 hours by default).',
      examples: [3_600, 0],
    },
  },
  examples: [{ overlapSeconds: 3_600 }],
})

export const rotatedSchema = completeComponent(
  'RotatedSecret',
  'The new secret, which signs all deliveries from now on.',
  { secret: secretSchema, previousValidUntil },
)
