import type { Subscription } from '@switchhook/contracts'
import { newWebhookSecret, subscriptionSecret, type Vault } from '@switchhook/signing'

type Owner = Pick<Subscription, 'tenant' | 'id'>

/** Makes the secrets of subscriptions, and shows them to the answers that give them away. */
export interface SubscriptionSecrets {
  /** A new one, sealed for this subscription and no other. */
  issue(owner: Owner): string
  /** The present one, as its owner gets it; undefined: it has none. @throws VaultError */
  reveal(subscription: Subscription): string | undefined
}

export const createSubscriptionSecrets = (vault: Vault): SubscriptionSecrets => ({
  issue: ({ tenant, id }) => vault.seal(newWebhookSecret(), subscriptionSecret(tenant, id)),
  reveal: ({ tenant, id, signing }) => signing && vault.open(signing.secret, subscriptionSecret(tenant, id)),
})
