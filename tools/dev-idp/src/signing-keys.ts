import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JWK } from 'oidc-provider'
import type { DevTenant } from './tenants.ts'

type SigningKeys = Readonly<Record<string, JWK>>

/**
 * Loads or creates one RSA key per tenant. The file keeps tokens valid across restarts; without it, the keys are lost
 * when the process ends.
 */
export function loadSigningKeys(file: string | undefined, tenants: readonly DevTenant[]) {
  const kept = file === undefined ? {} : readKeys(file)
  const keys = tenants.map((tenant) => [tenant, kept[tenant.tenant] ?? newKey()] as const)
  if (file !== undefined && tenants.some(({ tenant }) => kept[tenant] === undefined))
    writeKeys(file, Object.fromEntries(keys.map(([{ tenant }, key]) => [tenant, key])))
  return keys
}

function newKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' }
}

function readKeys(file: string): SigningKeys {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SigningKeys
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`DEV_IDP_KEYS names a file that has no keys: remove it, or name another file`, { cause: error })
  }
}

function writeKeys(file: string, keys: SigningKeys): void {
  mkdirSync(dirname(file), { recursive: true })
  // Written to a new file and renamed, so that a crash never leaves half a file.
  writeFileSync(`${file}.new`, JSON.stringify(keys), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
