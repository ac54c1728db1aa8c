import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

const SECRET_PREFIX = 'whsec_'
/** Of 24 to 64 that the specification of Standard Webhooks allows: what HMAC-SHA256 makes full use of. */
const SECRET_BYTES = 32

/** A secret as a subscription's owner gets it: `whsec_` and Base64 (https://www.standardwebhooks.com). */
export const newWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** What signs: to be kept, as making it takes several times as long as signing with it. */
export const signingKeyOf = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))

/**
 * What stands in `webhook-signature`: a signature by each key, in their order. The body is signed as the bytes that are sent.
 * @param timestampSeconds since 1970, what `webhook-timestamp` says
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
