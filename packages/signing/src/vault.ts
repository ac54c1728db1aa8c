import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SecretKey } from './secret-keys.ts'

/** What a sealed text belongs to. One that is moved to another place in the store cannot be opened there. */
export type SealContext = readonly (string | null)[]

/** Of a subscription's signing secret. */
export const subscriptionSecret = (tenant: string | null, subscriptionId: string): SealContext => [
  'subscription-secret',
  tenant,
  subscriptionId,
]

/** Keeps secrets where others can read: whoever has the store, or a message, but none of the keys, has nothing. */
export interface Vault {
  /** By the first key. The same text is sealed differently each time. */
  seal(text: string, context: SealContext): string
  /** @throws VaultError */
  open(sealed: string, context: SealContext): string
  /** Otherwise whoever sealed it anew could do without its key. */
  isOfFirstKey(sealed: string): boolean
}

/** A sealed text that cannot be opened. The message names a key at most, never what was sealed. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
}

const FORMAT = 'v1'
const ALGORITHM = 'aes-256-gcm'
/** NIST SP 800-38D, section 8.2.2: random, so a key may seal 2^32 texts. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @param keys at least one: the first seals, all open */
export function createVault(keys: readonly [SecretKey, ...SecretKey[]]): Vault {
  const [sealing] = keys
  const byId = new Map(keys.map(({ id, key }) => [id, key]))

  return {
    isOfFirstKey: (sealed) => sealed.startsWith(`${FORMAT}.${sealing.id}.`),
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, sealing.key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(bytesOf(context))
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const content = Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
      return `${FORMAT}.${sealing.id}.${content.toString('base64url')}`
    },
    open(sealed, context) {
      const [format, id = '', content, ...rest] = sealed.split('.')
      if (format !== FORMAT || content === undefined || rest.length > 0) throw new VaultError('not a sealed secret')
      const key = byId.get(id)
      if (key === undefined) throw new VaultError(`sealed with the key ${id}, which SECRET_KEYS does not name`)
      const bytes = Buffer.from(content, 'base64url')
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new VaultError('not a sealed secret')
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(bytesOf(context))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch (error) {
        const why = `sealed with another key of the name ${id}, or changed, or moved`
        throw new VaultError(why, { cause: error })
      }
    },
  }
}

const bytesOf = (context: SealContext): Buffer => Buffer.from(JSON.stringify(context))
