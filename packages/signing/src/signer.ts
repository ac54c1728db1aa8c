import type { KeyObject } from 'node:crypto'
import { type Delivery, formerSecretsAt, type Signing, signedAtMs, withTrial } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import { signatureOf, signingKeyOf } from './signature.ts'
import { subscriptionHeader, subscriptionSecret, type Vault, VaultError } from './vault.ts'

/** Signs attempts, and opens the headers of their subscriptions. Signs as Standard Webhooks specifies (https://www.standardwebhooks.com). */
export interface Signer {
  /** Whether the worker can open the delivery's current secret and headers. True for a delivery without them. */
  readonly canSign: (delivery: Delivery) => boolean
  /** The signature headers of an attempt that is made now. Empty for a delivery without a secret. */
  readonly headersOf: (delivery: Delivery) => Readonly<Record<string, string>>
  /** The headers that the subscription asks for, in clear. */
  readonly ownHeadersOf: (delivery: Delivery) => Readonly<Record<string, string>>
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

const NONE = {}

/** More secrets than a worker uses at a time. Opening a forgotten one again takes microseconds. */
const MAX_OPENED = 10_000

export function createSigner({ vault, log, now }: SignerDeps): Signer {
  /** By owner and sealed text. Null: the secret cannot be decrypted, and trying again would not help. */
  const opened = new LRUCache<string, { readonly key: KeyObject | null }>({ max: MAX_OPENED })
  const current = new WeakMap<Signing, OwnedKey>()
  /** By owner, name and sealed text. Null: the value cannot be decrypted. */
  const openedHeaders = new LRUCache<string, { readonly value: string | null }>({ max: MAX_OPENED })

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

  function openHeader({ tenant, subscriptionId }: Delivery, name: string, sealed: string): string | null {
    const key = `${tenant} ${subscriptionId} ${name} ${sealed}`
    const known = openedHeaders.get(key)
    if (known !== undefined) return known.value
    let value: string | null = null
    try {
      value = vault.open(sealed, subscriptionHeader(tenant, subscriptionId, name))
    } catch (error) {
      if (!(error instanceof VaultError)) throw error
      log.error('a webhook header cannot be decrypted; its deliveries wait', { tenant, subscriptionId, name, error })
    }
    openedHeaders.set(key, { value })
    return value
  }

  const ownHeaders = (delivery: Delivery): (readonly [name: string, value: string | null])[] =>
    Object.entries(delivery.headers ?? {}).map(([name, sealed]) => [name, openHeader(delivery, name, sealed)])

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
    canSign: (delivery) =>
      (delivery.signing === undefined || currentKey(delivery, delivery.signing) !== null) &&
      (delivery.headers === undefined || ownHeaders(delivery).every(([, value]) => value !== null)),
    ownHeadersOf(delivery) {
      if (delivery.headers === undefined) return NONE
      return Object.fromEntries(
        ownHeaders(delivery).map(([name, value]) => {
          if (value === null) throw new Error('a delivery without one of its headers must not be sent')
          return [name, value]
        }),
      )
    },
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

/**
 * The headers of one attempt (specification, "Delivery request"), with the event's id, with which a subscriber can look up the
 * event's other deliveries. Compressed answers are not accepted: the excerpt needs plain text, and a small compressed answer
 * can unpack to a huge one.
 * @param sign absent: nothing is signed
 */
export const attemptHeaders = (
  delivery: Delivery,
  attempt: number,
  sign?: Signer['headersOf'],
): Readonly<Record<string, string>> =>
  withTrial(delivery.trial, {
    'Content-Type': 'application/json; charset=utf-8',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    'User-Agent': 'Switchhook/1',
    'X-SVC-Event': delivery.eventType,
    'X-SVC-Event-Id': delivery.eventId,
    'X-SVC-Delivery': delivery.deliveryId,
    'X-SVC-Attempt': String(attempt),
    ...(delivery.isSparse === true && { 'X-SVC-Sparse': 'true' }),
    ...sign?.(delivery),
  })
