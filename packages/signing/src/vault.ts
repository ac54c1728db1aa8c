import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Logger } from '@switchhook/runtime'
import { DEVELOPMENT_KEY, type SecretKey } from './secret-keys.ts'

/** The owner of a sealed text. A sealed text that is moved to another owner's record cannot be decrypted. */
export type SealContext = readonly (string | null)[]

/** The context of a subscription's signing secret. */
export const subscriptionSecret = (tenant: string | null, subscriptionId: string): SealContext => [
  'subscription-secret',
  tenant,
  subscriptionId,
]

/** The context of the value of a header of a subscription. */
export const subscriptionHeader = (tenant: string | null, subscriptionId: string, name: string): SealContext => [
  'subscription-header',
  tenant,
  subscriptionId,
  name,
]

export type Vault = ReturnType<typeof createVault>

/** A sealed text cannot be decrypted. The message contains a key id at most, never the text. */
export class VaultError extends Error {
  override readonly name = 'VaultError'
}

const FORMAT = 'v1'
const ALGORITHM = 'aes-256-gcm'
/** NIST SP 800-38D, section 8.2.2: with random nonces, a key may seal 2^32 texts. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PROOF_BYTES = 16

/**
 * Encrypts secrets for the store and for messages, which are useless to a reader without the keys.
 * @param keys at least one: the first seals, all open
 */
export function createVault(keys: readonly [SecretKey, ...SecretKey[]]) {
  const [sealing] = keys
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  // Derived, because no key should serve two algorithms.
  const proofKeys = keys.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'switchhook proofs', 32)))
  const proofsOf = (context: SealContext): Buffer[] =>
    proofKeys.map((key) => createHmac('sha256', key).update(bytesOf(context)).digest().subarray(0, PROOF_BYTES))

  return {
    /** 128 bits that only a process with the keys can compute, in Base64url: a token with them was issued for this context. */
    proofOf: (context: SealContext): string => proofsOf(context)[0]?.toString('base64url') ?? '',
    isProof(proof: string, context: SealContext): boolean {
      const given = Buffer.from(proof, 'base64url')
      return given.length === PROOF_BYTES && proofsOf(context).some((expected) => timingSafeEqual(given, expected))
    },
    /** False: seal the text again before its key is removed. */
    isOfFirstKey: (sealed: string): boolean => sealed.startsWith(`${FORMAT}.${sealing.id}.`),
    /** Encrypts with the first key. The result differs each time. */
    seal(text: string, context: SealContext): string {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, sealing.key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(bytesOf(context))
      const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      const content = Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
      return `${FORMAT}.${sealing.id}.${content.toString('base64url')}`
    },
    /** @throws VaultError */
    open(sealed: string, context: SealContext): string {
      const [format, id = '', content, ...rest] = sealed.split('.')
      if (format !== FORMAT || content === undefined || rest.length > 0) throw new VaultError('not a sealed secret')
      const key = byId.get(id)
      if (key === undefined) throw new VaultError(`sealed with the key ${id}, which is not in SECRET_KEYS`)
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
        const why = `sealed with another key named ${id}, or modified, or moved`
        throw new VaultError(why, { cause: error })
      }
    },
  }
}

const bytesOf = (context: SealContext): Buffer => Buffer.from(JSON.stringify(context))

/** The vault of a service. Without SECRET_KEYS, which production requires, it uses a public key and logs a warning. */
export function openVault(
  { SECRET_KEYS }: { readonly SECRET_KEYS: readonly [SecretKey, ...SecretKey[]] | undefined },
  log: Pick<Logger, 'warn'>,
): Vault {
  if (SECRET_KEYS !== undefined) return createVault(SECRET_KEYS)
  log.warn('SECRET_KEYS is not set: webhook secrets are sealed with a public development key')
  return createVault([DEVELOPMENT_KEY])
}
