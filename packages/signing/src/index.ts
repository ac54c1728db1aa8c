export { type SecretKey, secretKeys, secretKeysField, secretKeysInProduction } from './secret-keys.ts'
export {
  attemptHeaders,
  createSigner,
  newWebhookSecret,
  type Signer,
  signatureOf,
  signingKeyOf,
} from './signer.ts'
export {
  createVault,
  openVault,
  type SealContext,
  subscriptionHeader,
  subscriptionSecret,
  type Vault,
  VaultError,
} from './vault.ts'
