import { formerSecretsAt, type Signing, type Subscription } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { subscriptionSecret, type Vault, VaultError } from '@switchhook/signing'
import type { SubscriptionStore } from '@switchhook/store'

export interface ResealDeps {
  readonly subscriptions: Pick<SubscriptionStore, 'list' | 'revise'>
  readonly vault: Vault
  /** Everybody who can have subscriptions. */
  readonly tenants: readonly (string | null)[]
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * Seals with the first key what others have sealed, so that those need not be kept for ever. The secrets stay as they are.
 * What cannot be done now is done at the next start: nothing depends on it but the end of an old key.
 */
export async function resealSecrets({ subscriptions, vault, tenants, log, nowMs }: ResealDeps): Promise<void> {
  let resealed = 0
  let lost = 0
  const again = (owner: Subscription, secret: string): string => {
    const context = subscriptionSecret(owner.tenant, owner.id)
    return vault.isOfFirstKey(secret) ? secret : vault.seal(vault.open(secret, context), context)
  }
  const reseal = (present: Subscription): Subscription => {
    const { signing } = present
    if (signing === undefined || !isStale(signing, vault)) return present
    // Those whose time is over are left behind, with their keys.
    const former = formerSecretsAt(signing, nowMs).map(({ secret, until }) => ({
      secret: again(present, secret),
      until,
    }))
    return { ...present, signing: { ...signing, secret: again(present, signing.secret), former } }
  }
  try {
    for (const tenant of tenants) {
      for (const { id, signing } of await subscriptions.list(tenant)) {
        if (signing === undefined || !isStale(signing, vault)) continue
        try {
          await subscriptions.revise(tenant, id, reseal)
          resealed += 1
        } catch (error) {
          if (!(error instanceof VaultError)) throw error
          lost += 1
          log.error('a webhook secret cannot be opened: its subscription needs a new one', {
            tenant,
            subscriptionId: id,
            error,
          })
        }
      }
    }
    if (resealed + lost > 0) log.info('webhook secrets were sealed anew', { resealed, lost })
  } catch (error) {
    log.warn('not all webhook secrets could be sealed anew: the next start tries again', { resealed, lost, error })
  }
}

const isStale = ({ secret, former }: Signing, vault: Vault): boolean =>
  [secret, ...former.map((one) => one.secret)].some((sealed) => !vault.isOfFirstKey(sealed))
