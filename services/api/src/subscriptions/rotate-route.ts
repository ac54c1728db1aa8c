import {
  AppError,
  formerSecretsAt,
  formerValidUntil,
  isGuid,
  MOST_FORMER_SECRETS,
  parseSubscriptionId,
  rotateSecret,
  type Signing,
} from '@switchhook/contracts'
import type { SubscriptionStore } from '@switchhook/store'
import type { Route } from '../http/route.ts'
import { rotatedSchema, rotationSchema } from './signing-schema.ts'
import { SUBSCRIPTIONS } from './subscription-routes.ts'
import { subscriptionIdSchema } from './subscription-schema.ts'
import type { SubscriptionSecrets } from './subscription-secrets.ts'

export interface RotateRouteDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'revise'>
  readonly secrets: SubscriptionSecrets
  /** How long a former secret signs too, where the request does not say. */
  readonly signatureOverlapMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface Rotation {
  readonly overlapSeconds?: number
}

export function createRotateRoute(deps: RotateRouteDeps): Route<Rotation> {
  return {
    method: 'post',
    path: `${SUBSCRIPTIONS}/{id}/rotate-secret`,
    operationId: 'rotateSubscriptionSecret',
    tag: 'subscriptions',
    summary: 'Give a subscription a new secret',
    description:
      'The new secret signs at once, retries of earlier deliveries included. For a while the secrets before it sign as well: ' +
      '`webhook-signature` then holds a signature by each, separated by spaces, the newest first, so that receivers can ' +
      `change over in their own time: at most ${MOST_FORMER_SECRETS} former ones at a time, one more is refused. ` +
      'Without a body the installation says for how long. A subscription that was unsigned is ' +
      'signed from now on.',
    idempotent: true,
    audit: { action: 'subscription.secret-rotated', on: ({ params }) => ({ subscriptionId: params['id'] }) },
    params: { id: subscriptionIdSchema },
    body: rotationSchema,
    isBodyOptional: true,
    responses: { 200: { description: 'The new secret.', body: rotatedSchema } },
    failures: ['subscription-not-found', 'too-many-secrets'],
    async handle({ caller, params: { id }, body: { overlapSeconds }, idFor }) {
      if (!isGuid(id)) throw new AppError('subscription-not-found')
      const owner = { tenant: caller.tenant, id: parseSubscriptionId(id) }
      const overlapMs = overlapSeconds === undefined ? deps.signatureOverlapMs : overlapSeconds * 1_000
      const next = { id: idFor('secret'), secret: deps.secrets.issue(owner) }
      const nowMs = deps.now()
      const rotated = await deps.subscriptions.revise(owner.tenant, owner.id, (present) => {
        // This very request has done it before, and died before it could answer.
        if (present.signing?.id === next.id) return present
        const signing = rotateSecret(present.signing, next, nowMs, overlapMs)
        assertFewFormer(signing, nowMs)
        return { ...present, signing }
      })
      if (rotated?.signing === undefined) throw new AppError('subscription-not-found')
      return {
        status: 200,
        body: { previousValidUntil: formerValidUntil(rotated.signing, nowMs) },
        confidential: { secret: deps.secrets.reveal(rotated) },
      }
    },
  }
}

/** A secret that receivers may still depend on is not dropped in silence. */
function assertFewFormer(signing: Signing, nowMs: number): void {
  if (formerSecretsAt(signing, nowMs).length <= MOST_FORMER_SECRETS) return
  throw new AppError('too-many-secrets', {
    detail: `At most ${MOST_FORMER_SECRETS} former secrets sign at a time. Wait for one to end, or end all of them with overlapSeconds 0`,
  })
}
