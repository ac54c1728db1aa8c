import { AppError, formerSecretsAt, formerValidUntil, MAX_FORMER_SECRETS, rotateSecret } from '@switchhook/contracts'
import type { ApiConfig } from '../../config.ts'
import { requireMatch } from '../../http/entity-tag.ts'
import type { RouteOf } from '../../http/route.ts'
import type { ValueOf } from '../../http/schema.ts'
import type { WebhookParts } from '../stores.ts'
import { rotatedSchema, rotationSchema } from './signing-schema.ts'
import { firstAttemptsStopped } from './stop-first-attempts.ts'
import { ofSubscription, subscriptionIdOf } from './subscription-routes.ts'
import { etagHeader } from './subscription-schema.ts'
import { newSealedSecret, openSecret } from './subscription-secrets.ts'
import { tagOf } from './subscription-view.ts'

interface RotateRouteDeps extends Pick<WebhookParts, 'subscriptions' | 'vault' | 'now'> {
  readonly config: Pick<ApiConfig, 'SIGNATURE_OVERLAP'>
}

const TOO_MANY = `At most ${MAX_FORMER_SECRETS} previous secrets can sign. Wait for one to expire, or end all of them with overlapSeconds 0.`

export const rotateSubscriptionSecret: RouteOf<RotateRouteDeps, ValueOf<typeof rotationSchema>> = {
  method: 'post',
  ...ofSubscription('/rotate-secret'),
  operationId: 'rotateSubscriptionSecret',
  tag: 'subscriptions',
  role: 'admin',
  summary: 'Rotate the signing secret',
  description:
    'Creates a new secret, which signs all deliveries from now on, including retries. Previous secrets keep signing for `overlapSeconds`, so ' +
    'that your receiver can switch without rejecting deliveries: `webhook-signature` then has one signature per secret, separated by spaces, the newest ' +
    `first. At most ${MAX_FORMER_SECRETS} previous secrets can sign; one more rotation answers 409 \`too-many-secrets\`. An unsigned subscription ` +
    'is signed from its first rotation.',
  idempotent: true,
  conditional: true,
  audit: { action: 'subscription.secret-rotated', ids: ['subscriptionId'] },
  body: rotationSchema,
  isBodyOptional: true,
  responses: { 200: { description: 'The new secret.', body: rotatedSchema, headers: { ETag: etagHeader } } },
  failures: ['subscription-not-found', 'too-many-secrets'],
  async handle({ caller, params: { id }, body: { overlapSeconds }, idFor, ifMatch }, deps) {
    const owner = { tenant: caller.tenant, id: subscriptionIdOf(id) }
    const overlapMs = overlapSeconds === undefined ? deps.config.SIGNATURE_OVERLAP : overlapSeconds * 1_000
    const next = { id: idFor('secret'), secret: newSealedSecret(deps.vault, owner) }
    const nowMs = deps.now()
    const rotated = await deps.subscriptions.revise(owner.tenant, owner.id, (present) => {
      // An earlier run of this request has rotated the secret, and the process died before the answer.
      if (present.signing?.id === next.id) return present
      requireMatch(ifMatch, tagOf(present))
      const signing = rotateSecret(present.signing, next, nowMs, overlapMs)
      // Otherwise a secret would be dropped which receivers may still rely on.
      if (formerSecretsAt(signing, nowMs).length > MAX_FORMER_SECRETS) {
        throw new AppError('too-many-secrets', { detail: TOO_MANY })
      }
      return { ...present, signing }
    })
    if (rotated?.signing === undefined) throw new AppError('subscription-not-found')
    // A receiver that switches to the new secret immediately gets no first attempt that only the previous one signs.
    await firstAttemptsStopped(performance.now())
    return {
      status: 200,
      body: { previousValidUntil: formerValidUntil(rotated.signing, nowMs) },
      confidential: { secret: openSecret(deps.vault, rotated) },
      headers: { ETag: tagOf(rotated) },
    }
  },
}
