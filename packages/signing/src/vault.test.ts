import { createSecretKey, randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import type { SecretKey } from './secret-keys.ts'
import { createVault, subscriptionSecret, VaultError } from './vault.ts'

const newKey = (id: string): SecretKey => ({ id, key: createSecretKey(randomBytes(32)) })
const [first, second] = [newKey('2026-11'), newKey('2025-11')]
const vault = createVault([first])
const ours = subscriptionSecret('acme', '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11')

test('a sealed text can be opened, and does not contain the text', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, unit: 'grapheme' }), (text) => {
      const sealed = vault.seal(text, ours)
      expect(sealed).toMatch(/^v1\.2026-11\.[\w-]+$/)
      expect(sealed).not.toContain(text)
      expect(vault.open(sealed, ours)).toBe(text)
    }),
  )
})

test('the same text is sealed differently each time', () => {
  expect(vault.seal('whsec_1', ours)).not.toBe(vault.seal('whsec_1', ours))
})

test.each([
  ['another subscription', subscriptionSecret('acme', '00000000-0000-4000-8000-000000000000')],
  ['another tenant', subscriptionSecret('globex', '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11')],
  ['the installation itself', subscriptionSecret(null, '4f1c2a9e-8a53-4c1d-9d1e-0d6d6b1f7a11')],
])('a text sealed for one subscription cannot be decrypted for %s', (_owner, context) => {
  expect(() => vault.open(vault.seal('whsec_1', ours), context)).toThrow(VaultError)
})

test('a sealed text with one changed character cannot be decrypted', () => {
  const sealed = vault.seal('whsec_1', ours)
  const at = sealed.lastIndexOf('.') + 1
  for (let index = at; index < sealed.length - 1; index++) {
    const other = sealed[index] === 'A' ? 'B' : 'A'
    expect(() => vault.open(sealed.slice(0, index) + other + sealed.slice(index + 1), ours)).toThrow(VaultError)
  }
})

test.each(['', 'whsec_1', 'v2.2026-11.AAAA', 'v1.2026-11', 'v1.2026-11.AAAA', 'v1.2026-11.AAAA.AAAA'])(
  '%j is not a sealed text',
  (text) => {
    expect(() => vault.open(text, ours)).toThrow(VaultError)
  },
)

describe('key rotation', () => {
  const before = createVault([second])
  const sealed = before.seal('whsec_1', ours)

  test('the first key seals, and the others still open', () => {
    const both = createVault([first, second])
    expect(both.open(sealed, ours)).toBe('whsec_1')
    expect(both.seal('whsec_2', ours)).toMatch(/^v1\.2026-11\./)
    expect([both.seal('whsec_2', ours), sealed].map((text) => both.isOfFirstKey(text))).toEqual([true, false])
  })

  test('without its key a text cannot be decrypted, and the error names the key', () => {
    expect(() => vault.open(sealed, ours)).toThrow('sealed with the key 2025-11')
  })

  test('another key with the same name does not open it', () => {
    expect(() => createVault([newKey('2025-11')]).open(sealed, ours)).toThrow('another key named 2025-11')
  })
})

test('a proof holds for its context, also after its key was replaced, and no longer once the key is removed', () => {
  const proof = vault.proofOf(['lease', 'a'])
  expect(proof).toMatch(/^[\w-]{22}$/)
  expect(createVault([second, first]).isProof(proof, ['lease', 'a'])).toBe(true)
  expect(vault.isProof(proof, ['lease', 'b'])).toBe(false)
  expect(createVault([second]).isProof(proof, ['lease', 'a'])).toBe(false)
  expect(vault.isProof('', ['lease', 'a'])).toBe(false)
})
