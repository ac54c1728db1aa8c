import { formerSecretsAt, type Subscription } from '@switchhook/contracts'
import {
  newWebhookSecret,
  type SealContext,
  subscriptionHeader,
  subscriptionSecret,
  type Vault,
  VaultError,
} from '@switchhook/signing'
import type { Base } from '../../base.ts'
import { tenantsOf } from '../../config.ts'

/** A new signing secret, sealed for this subscription only. */
export const newSealedSecret = (vault: Vault, { tenant, id }: Pick<Subscription, 'tenant' | 'id'>): string =>
  vault.seal(newWebhookSecret(), subscriptionSecret(tenant, id))

/** The current signing secret in clear; undefined if the subscription has none. @throws VaultError */
export const openSecret = (vault: Vault, { tenant, id, signing }: Subscription): string | undefined =>
  signing && vault.open(signing.secret, subscriptionSecret(tenant, id))

/**
 * Seals every secret that an older key sealed with the first key, so that the operator can remove the older keys. The
 * secrets themselves stay the same. A failure only delays the removal of old keys: the next start tries again.
 */
export async function resealSecrets({ config, subscriptions, vault, log, now }: Base): Promise<void> {
  const nowMs = now()
  let resealed = 0
  let lost = 0
  const resealText = (sealed: string, context: SealContext): string =>
    vault.isOfFirstKey(sealed) ? sealed : vault.seal(vault.open(sealed, context), context)
  function reseal({ headers, signing, ...present }: Subscription): Subscription {
    const { tenant, id } = present
    const ofHeader = ([name, sealed]: [string, string]) =>
      [name, resealText(sealed, subscriptionHeader(tenant, id, name))] as const
    const ofSecret = <Sealed extends { readonly secret: string }>(one: Sealed) => {
      return { ...one, secret: resealText(one.secret, subscriptionSecret(tenant, id)) }
    }
    return {
      ...present,
      ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(ofHeader)) }),
      // Expired secrets are dropped: the key that sealed them may be gone.
      ...(signing && { signing: { ...ofSecret(signing), former: formerSecretsAt(signing, nowMs).map(ofSecret) } }),
    }
  }
  try {
    for (const tenant of tenantsOf(config)) {
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
