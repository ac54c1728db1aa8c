import type { KeyObject } from 'node:crypto'
import { type Delivery, formerSecretsAt, type Signing, signedAtMs } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { signatureOf, signingKeyOf, subscriptionSecret, type Vault, VaultError } from '@switchhook/signing'
import { LRUCache } from 'lru-cache'

/** Signs attempts as Standard Webhooks specifies (https://www.standardwebhooks.com). */
export interface Signer {
  /** Whether the worker can open the delivery's current secret. True for a delivery without a secret. */
  readonly canSign: (delivery: Delivery) => boolean
  /** The signature headers of an attempt that is made now. Empty for a delivery without a secret. */
  readonly headersOf: (delivery: Delivery) => Readonly<Record<string, string>>
}

export interface SignerDeps {
  readonly vault: Pick<Vault, 'open'>
  readonly log: Pick<Logger, 'error'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The key of a current secret, and the subscription that may sign with it. Null: the secret cannot be decrypted. */
interface OwnedKey extends Pick<Delivery, 'tenant' | 'subscriptionId'> {
  readonly key: KeyObject | null
}

/** More secrets than a worker uses at a time. Opening a forgotten one again takes microseconds. */
const MAX_OPENED = 10_000

export function createSigner({ vault, log, now }: SignerDeps): Signer {
  /** By owner and sealed text. Null: the secret cannot be decrypted, and trying again would not help. */
  const opened = new LRUCache<string, { readonly key: KeyObject | null }>({ max: MAX_OPENED })
  const current = new WeakMap<Signing, OwnedKey>()

  function open({ tenant, subscriptionId }: Delivery, sealed: string): KeyObject | null {
    const name = `${tenant} ${subscriptionId} ${sealed}`
    const known = opened.get(name)
    if (known !== undefined) return known.key
    let key: KeyObject | null = null
    try {
      key = signingKeyOf(vault.open(sealed, subscriptionSecret(tenant, subscriptionId)))
    } catch (error) {
      if (!(error instanceof VaultError)) throw error
      log.error('a webhook secret cannot be decrypted; its deliveries wait', { tenant, subscriptionId, error })
    }
    opened.set(name, { key })
    return key
  }

  /**
   * The key of the current secret. Deliveries that share a look share the object `signing`, so most of them need no name of
   * 200 characters to find it. The owner is compared, because a secret signs only for its own subscription.
   */
  function currentKey(delivery: Delivery, signing: Signing): KeyObject | null {
    const known = current.get(signing)
    if (known !== undefined && known.subscriptionId === delivery.subscriptionId && known.tenant === delivery.tenant) {
      return known.key
    }
    const key = open(delivery, signing.secret)
    current.set(signing, { tenant: delivery.tenant, subscriptionId: delivery.subscriptionId, key })
    return key
  }

  return {
    canSign: (delivery) => delivery.signing === undefined || currentKey(delivery, delivery.signing) !== null,
    headersOf(delivery) {
      const { signing, deliveryId, body } = delivery
      if (signing === undefined) return {}
      const nowMs = now()
      const key = currentKey(delivery, signing)
      if (key === null) throw new Error('a delivery that cannot be signed must not be sent')
      const former = formerSecretsAt(signing, nowMs).flatMap(({ secret }) => open(delivery, secret) ?? [])
      const timestampSeconds = Math.floor(signedAtMs(delivery.trial, nowMs) / 1_000)
      return {
        'webhook-id': deliveryId,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signatureOf([key, ...former], { id: deliveryId, timestampSeconds, body }),
      }
    },
  }
}
