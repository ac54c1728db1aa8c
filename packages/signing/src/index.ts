export { type SecretKey, secretKeys, secretKeysField, secretKeysInProduction } from './secret-keys.ts'
export { newWebhookSecret, signatureOf, signingKeyOf } from './signature.ts'
export { attemptHeaders, createSigner, type Signer } from './signer.ts'
export {
  createVault,
  openVault,
  type SealContext,
  subscriptionHeader,
  subscriptionSecret,
  type Vault,
  VaultError,
} from './vault.ts'
