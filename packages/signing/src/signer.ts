import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { type Delivery, formerSecretsAt, type Signing, signedAtMs, type Tenant, withTrial } from '@switchhook/contracts'
import type { Logger } from '@switchhook/runtime'
import { LRUCache } from 'lru-cache'
import { type SealContext, subscriptionHeader, subscriptionSecret, type Vault, VaultError } from './vault.ts'

export type Signer = ReturnType<typeof createSigner>

export interface SignerDeps {
  readonly vault: Pick<Vault, 'open'>
  readonly log: Pick<Logger, 'error'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** More secrets than a worker uses at a time. Opening a forgotten one again takes microseconds. */
const MAX_OPENED = 10_000

/** Signs attempts as Standard Webhooks specifies (https://www.standardwebhooks.com), and opens the headers of their subscriptions. */
export function createSigner({ vault, log, now }: SignerDeps) {
  /** The keys of current secrets, with the subscriptions that may sign with them. */
  const current = new WeakMap<Signing, { tenant: Tenant; subscriptionId: string; key: KeyObject | null }>()
  const openSecret = opening('secret', signingKeyOf)
  const openHeader = opening('header', (text) => text)

  /** Opens each sealed text once. Null: it cannot be decrypted, and trying again would not help. */
  function opening<Opened>(what: string, from: (text: string) => Opened) {
    const opened = new LRUCache<string, { readonly value: Opened | null }>({ max: MAX_OPENED })
    return (sealed: string, context: SealContext, owner: object): Opened | null => {
      const id = [...context, sealed].join(' ')
      const known = opened.get(id)
      if (known !== undefined) return known.value
      let value: Opened | null = null
      try {
        value = from(vault.open(sealed, context))
      } catch (error) {
        if (!(error instanceof VaultError)) throw error
        log.error(`a webhook ${what} cannot be decrypted; its deliveries wait`, { ...owner, error })
      }
      opened.set(id, { value })
      return value
    }
  }

  const secretKey = ({ tenant, subscriptionId }: Delivery, sealed: string): KeyObject | null =>
    openSecret(sealed, subscriptionSecret(tenant, subscriptionId), { tenant, subscriptionId })

  const ownHeaders = ({ headers = {}, tenant, subscriptionId }: Delivery) =>
    Object.entries(headers).map(([name, sealed]) => {
      const owner = { tenant, subscriptionId, name }
      return [name, openHeader(sealed, subscriptionHeader(tenant, subscriptionId, name), owner)] as const
    })

  /**
   * The key of the current secret. Deliveries that share a read share the object `signing`, so most of them need no name of
   * 200 characters to find it. The owner is compared, because a secret signs only for its own subscription.
   */
  function currentKey(delivery: Delivery, signing: Signing): KeyObject | null {
    const { tenant, subscriptionId } = delivery
    const known = current.get(signing)
    if (known?.subscriptionId === subscriptionId && known.tenant === tenant) return known.key
    const key = secretKey(delivery, signing.secret)
    current.set(signing, { tenant, subscriptionId, key })
    return key
  }

  return {
    /** Whether the worker can open the delivery's current secret and headers. True for a delivery without them. */
    canSign: (delivery: Delivery): boolean =>
      (delivery.signing === undefined || currentKey(delivery, delivery.signing) !== null) &&
      ownHeaders(delivery).every(([, value]) => value !== null),
    /** The headers that the subscription asks for, in clear. */
    ownHeadersOf: (delivery: Delivery): Readonly<Record<string, string>> =>
      Object.fromEntries(
        ownHeaders(delivery).map(([name, value]) => {
          if (value === null) throw new Error('a delivery without one of its headers must not be sent')
          return [name, value]
        }),
      ),
    /** The signature headers of an attempt that is made now. Empty for a delivery without a secret. */
    headersOf: (delivery: Delivery): Readonly<Record<string, string>> => {
      const { signing, deliveryId, body } = delivery
      if (signing === undefined) return {}
      const nowMs = now()
      const key = currentKey(delivery, signing)
      if (key === null) throw new Error('a delivery that cannot be signed must not be sent')
      const former = formerSecretsAt(signing, nowMs).flatMap(({ secret }) => secretKey(delivery, secret) ?? [])
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

const SECRET_PREFIX = 'whsec_'
/** Standard Webhooks allows 24 to 64. HMAC-SHA256 gains nothing from more than 32. */
const SECRET_BYTES = 32

/** A secret in the form that the subscriber receives: `whsec_` and Base64 (https://www.standardwebhooks.com). */
export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** The key of a secret. Cache it: creating it takes several times as long as signing. */
export const signingKeyOf = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))

/**
 * The value of `webhook-signature`: one signature per key, in order. Signs the bytes of the body exactly as sent.
 * @param message with `timestampSeconds`, seconds since 1970, the value of `webhook-timestamp`
 */
export function signatureOf(
  keys: readonly KeyObject[],
  message: { readonly id: string; readonly timestampSeconds: number; readonly body: Buffer },
): string {
  const { id, timestampSeconds, body } = message
  const sign = (key: KeyObject): string =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`
  return keys.map(sign).join(' ')
}
