import { createHash, createSecretKey } from 'node:crypto'
import type { Logger } from '@switchhook/runtime'
import type { SecretKey } from './secret-keys.ts'
import { createVault, type Vault } from './vault.ts'

/** Of nothing secret: whoever has the source has it. */
const DEVELOPMENT_KEY: SecretKey = {
  id: 'development',
  key: createSecretKey(createHash('sha256').update('switchhook, development').digest()),
}

/** The vault of a service. Without keys, which `secretKeysInProduction` refuses in production, a public one is used and said so. */
export function openVault(
  { SECRET_KEYS }: { readonly SECRET_KEYS: readonly [SecretKey, ...SecretKey[]] | undefined },
  log: Pick<Logger, 'warn'>,
): Vault {
  if (SECRET_KEYS !== undefined) return createVault(SECRET_KEYS)
  log.warn('webhook secrets are sealed with a key that is public: SECRET_KEYS is not set')
  return createVault([DEVELOPMENT_KEY])
}
