import { Refusal } from './answer.ts'
import type { ReceiverOptions } from './options.ts'

/** Checks signatures as https://www.standardwebhooks.com describes, with the Web Crypto of every runtime. */
type Keys = readonly ReturnType<typeof crypto.subtle.importKey>[]

const SECRETS_KEPT_MS = 10_000
/** A secret that was created meanwhile must not be refused: that would park the delivery. Bounds what a forger can cost. */
const SECRETS_FRESH_MS = 1_000
const MAX_OFF_SECONDS = 300
/** Switchhook sends at most five. Each is compared over the whole body, so more would let a forger keep a core busy. */
const MAX_SIGNATURES = 10
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** Reads the secrets, unless they were read within `maxAgeMs`. */
type Secrets = (maxAgeMs: number) => Promise<Keys>

/** @throws TypeError if a given secret is not valid */
export function createSecrets(source: ReceiverOptions<unknown>['secrets']): Secrets {
  if (typeof source !== 'function') {
    const keys = keysOf([source].flat())
    return async () => keys
  }
  let reading: Promise<Keys> | undefined
  let readAtMs = 0
  return (maxAgeMs) => {
    if (reading === undefined || Date.now() - readAtMs > maxAgeMs) {
      readAtMs = Date.now()
      reading = Promise.resolve()
        .then(source)
        .then(keysOf)
        .catch((cause: unknown) => {
          reading = undefined
          throw new Refusal(503, 'The secrets of the receiver cannot be read.', cause)
        })
    }
    return reading
  }
}

/** @param secrets in JavaScript, that of a variable that is not set is undefined */
function keysOf(secrets: readonly (string | undefined)[]): Keys {
  if (secrets.length === 0) throw new TypeError('There is no secret. Creating a subscription returns its secret.')
  return secrets.map((secret, at) => {
    const bytes = bytesOf(String(secret).replace(/^whsec_/, ''))
    // The specification of Standard Webhooks allows 24 to 64.
    if (bytes === undefined || bytes.length < 24 || bytes.length > 64) {
      throw new TypeError(`Secret ${at + 1} is not valid: it must be whsec_ and Base64, as the API returned it.`)
    }
    return crypto.subtle.importKey('raw', bytes, HMAC, false, ['verify'])
  })
}

/** @throws Refusal if the request is not signed with one of the secrets */
export async function verify(secrets: Secrets, header: (name: string) => string | null, body: string): Promise<void> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(header)
  if (!id || !timestamp || !signatures) {
    throw new Refusal(401, 'The request is not signed. If the subscription is unsigned, rotate its secret.')
  }
  const offSeconds = Math.round(Date.now() / 1_000 - Number(timestamp))
  if (!(Math.abs(offSeconds) <= MAX_OFF_SECONDS)) {
    const age = offSeconds < 0 ? `${-offSeconds} s in the future` : `${offSeconds} s ago`
    throw new Refusal(401, `By the receiver's clock, the request was signed ${age}. Is the clock right?`)
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const given = signatures
    .split(' ', MAX_SIGNATURES)
    .flatMap((one) => (one.startsWith('v1,') ? (bytesOf(one.slice(3)) ?? []) : []))
  for (const maxAgeMs of [SECRETS_KEPT_MS, SECRETS_FRESH_MS]) {
    for (const key of await secrets(maxAgeMs)) {
      for (const bytes of given) if (await crypto.subtle.verify(HMAC, await key, bytes, signed)) return
    }
  }
  throw new Refusal(
    401,
    'No secret of the receiver fits the signature. Compare it with the secret of the subscription.',
  )
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
