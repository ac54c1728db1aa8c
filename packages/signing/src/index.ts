export { type SecretKey, secretKeys, secretKeysField, secretKeysInProduction } from './secret-keys.ts'
export { newWebhookSecret, signatureOf, signingKeyOf } from './signature.ts'
export { createVault, openVault, subscriptionSecret, type Vault, VaultError } from './vault.ts'
