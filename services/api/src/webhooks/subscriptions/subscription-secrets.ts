import { formerSecretsAt, type Signing, type Subscription, type Tenant } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { newWebhookSecret, subscriptionSecret, type Vault, VaultError } from '@switchhook/signing'
import type { SubscriptionStore } from '@switchhook/store'

type Owner = Pick<Subscription, 'tenant' | 'id'>

/** Creates the signing secrets of subscriptions, and opens them for the answers that show them. */
export interface SubscriptionSecrets {
  /** A new secret, sealed for this subscription only. */
  issue(owner: Owner): string
  /** The current secret in clear; undefined if the subscription has none. @throws VaultError */
  reveal(subscription: Subscription): string | undefined
}

export const createSubscriptionSecrets = (vault: Vault): SubscriptionSecrets => ({
  issue: ({ tenant, id }) => vault.seal(newWebhookSecret(), subscriptionSecret(tenant, id)),
  reveal: ({ tenant, id, signing }) => signing && vault.open(signing.secret, subscriptionSecret(tenant, id)),
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
  const resealSecret = (owner: Owner, secret: string): string => {
    const context = subscriptionSecret(owner.tenant, owner.id)
    return vault.isOfFirstKey(secret) ? secret : vault.seal(vault.open(secret, context), context)
  }
  const reseal = (present: Subscription): Subscription => {
    const { signing } = present
    if (signing === undefined || !isStale(signing, vault)) return present
    // Expired secrets are dropped: the key that sealed them may be gone.
    const former = formerSecretsAt(signing, nowMs).map(({ secret, until }) => ({
      secret: resealSecret(present, secret),
      until,
    }))
    return { ...present, signing: { ...signing, secret: resealSecret(present, signing.secret), former } }
  }
  try {
    for (const tenant of tenants) {
      for await (const some of subscriptions.all(tenant)) {
        for (const { id, signing } of some) {
          if (signing === undefined || !isStale(signing, vault)) continue
          try {
            await subscriptions.revise(tenant, id, reseal)
            resealed += 1
          } catch (error) {
            if (!(error instanceof VaultError)) throw error
            lost += 1
            const which = { tenant, subscriptionId: id, error }
            log.error(
              'a webhook secret cannot be decrypted: restore its key, or rotate the secret of the subscription',
              which,
            )
          }
        }
      }
    }
    if (resealed + lost > 0) log.info('resealed webhook secrets with the first key', { resealed, lost })
  } catch (error) {
    log.warn('not all webhook secrets were resealed; the next start tries again', { resealed, lost, error })
  }
}

const isStale = ({ secret, former }: Signing, vault: Vault): boolean =>
  [secret, ...former.map((one) => one.secret)].some((sealed) => !vault.isOfFirstKey(sealed))
