import { createHash, createSecretKey, type KeyObject } from 'node:crypto'
import { described, type Field, FieldError, optional } from '@switchhook/runtime'

/** A key that seals secrets. Each sealed text contains the id of its key, so that keys can be rotated. */
export interface SecretKey {
  readonly id: string
  /** A KeyObject, so that logging or inspecting it does not show its bytes. */
  readonly key: KeyObject
}

/** AES-256. */
const KEY_BYTES = 32
const ENTRY = /^([\w-]{1,32}):([A-Za-z0-9+/]+={0,2})$/
const EXPECTED = `must be id:key, separated by commas, each key ${KEY_BYTES} bytes in Base64 (openssl rand -base64 ${KEY_BYTES})`

/** `2026-11:<Base64>,2025-11:<Base64>`: the first key seals, all keys open. */
export const secretKeys = (): Field<readonly [SecretKey, ...SecretKey[]]> => ({
  fallback: undefined,
  parse: (raw) => {
    const [first, ...others] = raw.split(',').map(parseKey)
    if (first === undefined) throw new FieldError(EXPECTED)
    const keys = [first, ...others] as const
    if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new FieldError('names a key twice')
    return [...keys]
  },
})

/** `SECRET_KEYS` of every service that seals or opens webhook secrets. */
export const secretKeysField = described(
  'Keys that encrypt webhook secrets: `id:base64,…`. The first encrypts, all decrypt. Required in production ([signatures](signatures.md)).',
  optional(secretKeys()),
)

function parseKey(entry: string): SecretKey {
  const [, id, base64 = ''] = ENTRY.exec(entry.trim()) ?? []
  const bytes = Buffer.from(base64, 'base64')
  if (id === undefined || bytes.length !== KEY_BYTES) throw new FieldError(EXPECTED)
  return { id, key: createSecretKey(bytes) }
}

/** Not a secret: it is in the source code. */
export const DEVELOPMENT_KEY: SecretKey = {
  id: 'development',
  key: createSecretKey(createHash('sha256').update('switchhook, development').digest()),
}

/** 32 random bytes have about 30 different values. */
const MIN_DIFFERENT_BYTES = 16

const isGuessable = ({ key }: SecretKey): boolean =>
  key.equals(DEVELOPMENT_KEY.key) || new Set(key.export()).size < MIN_DIFFERENT_BYTES

/** A configuration rule for every service that seals or opens secrets. */
export function secretKeysInProduction({
  NODE_ENV,
  SECRET_KEYS,
}: {
  readonly NODE_ENV: string
  readonly SECRET_KEYS: readonly SecretKey[] | undefined
}): string | undefined {
  if (NODE_ENV !== 'production') return undefined
  if (SECRET_KEYS === undefined) {
    return `SECRET_KEYS is required in production, because it encrypts the webhook secrets. It ${EXPECTED}`
  }
  const guessable = SECRET_KEYS.find(isGuessable)
  return guessable === undefined
    ? undefined
    : `SECRET_KEYS: the key ${guessable.id} can be guessed: use random bytes (openssl rand -base64 ${KEY_BYTES})`
}
