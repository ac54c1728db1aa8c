import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

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
