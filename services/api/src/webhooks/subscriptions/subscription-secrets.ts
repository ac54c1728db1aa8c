import { formerSecretsAt, type Subscription, type Tenant } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import {
  newWebhookSecret,
  type SealContext,
  subscriptionHeader,
  subscriptionSecret,
  type Vault,
  VaultError,
} from '@switchhook/signing'
import type { SubscriptionStore } from '@switchhook/store'
import { type HeadersBefore, type HeadersRequest, mergedHeaders } from './own-headers.ts'

type Owner = Pick<Subscription, 'tenant' | 'id'>

/** Creates the signing secrets of subscriptions, and opens them for the answers that show them. */
export interface SubscriptionSecrets {
  /** A new secret, sealed for this subscription only. */
  issue(owner: Owner): string
  /** The current secret in clear; undefined if the subscription has none. @throws VaultError */
  reveal(subscription: Subscription): string | undefined
  /** The stored headers after a request. @throws AppError `invalid-request` */
  mergeHeaders(owner: Owner, before: HeadersBefore | undefined, request: HeadersRequest): Subscription['headers']
}

export const createSubscriptionSecrets = (vault: Vault): SubscriptionSecrets => ({
  issue: ({ tenant, id }) => vault.seal(newWebhookSecret(), subscriptionSecret(tenant, id)),
  reveal: ({ tenant, id, signing }) => signing && vault.open(signing.secret, subscriptionSecret(tenant, id)),
  mergeHeaders: (owner, before, request) => mergedHeaders(vault, owner, before, request),
})

export interface ResealDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'all' | 'revise'>
  readonly vault: Vault
  /** Every tenant that can have subscriptions. */
  readonly tenants: readonly Tenant[]
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * Seals every secret that an older key sealed with the first key, so that the operator can remove the older keys. The
 * secrets themselves stay the same. A failure only delays the removal of old keys: the next start tries again.
 */
export async function resealSecrets({ subscriptions, vault, tenants, log, nowMs }: ResealDeps): Promise<void> {
  let resealed = 0
  let lost = 0
  const resealText = (sealed: string, context: SealContext): string =>
    vault.isOfFirstKey(sealed) ? sealed : vault.seal(vault.open(sealed, context), context)
  const resealHeaders = ({ tenant, id, headers = {} }: Subscription): Subscription['headers'] =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, resealText(value, subscriptionHeader(tenant, id, name))]),
    )
  const reseal = (stored: Subscription): Subscription => {
    const present = { ...stored, ...(stored.headers !== undefined && { headers: resealHeaders(stored) }) }
    const { signing } = present
    if (signing === undefined) return present
    const context = subscriptionSecret(present.tenant, present.id)
    // Expired secrets are dropped: the key that sealed them may be gone.
    const former = formerSecretsAt(signing, nowMs).map(({ secret, until }) => ({
      secret: resealText(secret, context),
      until,
    }))
    return { ...present, signing: { ...signing, secret: resealText(signing.secret, context), former } }
  }
  try {
    for (const tenant of tenants) {
      for await (const some of subscriptions.all(tenant)) {
        for (const { id, ...sealed } of some) {
          if (!isStale(sealed, vault)) continue
          try {
            await subscriptions.revise(tenant, id, reseal)
            resealed += 1
          } catch (error) {
            if (!(error instanceof VaultError)) throw error
            lost += 1
            const which = { tenant, subscriptionId: id, error }
            log.error('a webhook secret or header cannot be decrypted: restore its key, or replace it', which)
          }
        }
      }
    }
    if (resealed + lost > 0) log.info('resealed webhook secrets with the first key', { resealed, lost })
  } catch (error) {
    log.warn('not all webhook secrets were resealed; the next start tries again', { resealed, lost, error })
  }
}

const isStale = ({ signing, headers = {} }: Pick<Subscription, 'signing' | 'headers'>, vault: Vault): boolean =>
  [
    ...(signing === undefined ? [] : [signing.secret, ...signing.former.map(({ secret }) => secret)]),
    ...Object.values(headers),
  ].some((sealed) => !vault.isOfFirstKey(sealed))
