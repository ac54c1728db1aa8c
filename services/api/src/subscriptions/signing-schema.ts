import { formerValidUntil, type Signing } from '@switchhook/contracts'
import { component } from '../http/component.ts'

/** What clients see of how their deliveries are signed: no secret, sealed or not. */
export interface SigningView {
  readonly state: 'signed' | 'unsigned'
  readonly since: string | null
  readonly previousValidUntil: string | null
}

export const signingViewOf = (signing: Signing | undefined, nowMs: number): SigningView =>
  signing === undefined
    ? { state: 'unsigned', since: null, previousValidUntil: null }
    : { state: 'signed', since: signing.since, previousValidUntil: formerValidUntil(signing, nowMs) }

const previousValidUntil = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'Until when the secret before it, or an earlier one, signs as well; null: the present one signs alone.',
  examples: ['2026-11-21T17:06:01.173Z', null],
} as const

export const secretSchema = {
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
  description:
    'What the deliveries are signed with, by Standard Webhooks (HMAC-SHA256, `v1`): give it to your verifying library as it ' +
    'is. No other answer shows it, so keep it where you keep passwords. Only the same request under the same `Idempotency-Key` is answered with it again, for 24 hours.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw9VbFQ2m4dXk='],
} as const

export const signingSchema = component('SubscriptionSigning', {
  type: 'object',
  description: 'How the deliveries are signed. The secret itself is not shown here.',
  required: ['state', 'since', 'previousValidUntil'],
  properties: {
    state: {
      type: 'string',
      enum: ['signed', 'unsigned'],
      description:
        'unsigned: it was created before there were signatures. Its deliveries are signed from its first secret on, which `rotate-secret` gives.',
      examples: ['signed'],
    },
    since: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the present secret was made; null: there is none.',
      examples: ['2026-11-20T17:06:01.173Z'],
    },
    previousValidUntil,
  },
})

/** As many days as other services allow. */
const MAX_OVERLAP_SECONDS = 7 * 86_400

export const rotationSchema = component('SecretRotation', {
  type: 'object',
  description: 'A member that is not named here is refused, as a misspelt one would let a leaked secret go on.',
  additionalProperties: false,
  properties: {
    overlapSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description:
        'How long the secrets before the new one sign as well, from now on; none of them for longer than it would have. 0: not ' +
        'at all, for a secret that has leaked. Left out: what the installation says, a day unless configured.',
      examples: [3_600, 0],
    },
  },
  examples: [{ overlapSeconds: 3_600 }],
})

export const rotatedSchema = component('RotatedSecret', {
  type: 'object',
  description: 'The new secret, which signs from now on.',
  required: ['secret', 'previousValidUntil'],
  properties: { secret: secretSchema, previousValidUntil },
})
