import { createHash, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { loadConfig, optional } from '@switchhook/runtime'
import { secretKeys, secretKeysInProduction } from './secret-keys.ts'
import { openVault } from './vault.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const RANDOM = randomBytes(32).toString('base64')
const OTHER = Buffer.alloc(32, 2).toString('base64')
const fields = { SECRET_KEYS: optional(secretKeys()) }
const load = (SECRET_KEYS: string) => loadConfig(fields, { SECRET_KEYS }).SECRET_KEYS

test('one or several keys, each with its id', () => {
  expect(load(`one:${KEY}`)?.map(({ id }) => id)).toEqual(['one'])
  expect(load(`2026-11:${KEY}, old_1:${OTHER}`)?.map(({ id }) => id)).toEqual(['2026-11', 'old_1'])
})

test('inspecting the configuration shows no key', () => {
  const keys = load(`one:${KEY}`)
  const shown = `${inspect(keys, { depth: 9 })} ${JSON.stringify(keys)}`
  for (const encoding of ['base64', 'hex', 'latin1'] as const) {
    expect(shown).not.toContain(Buffer.alloc(32, 1).toString(encoding))
  }
})

test.each<[string, string]>([
  ['no id', KEY],
  ['an empty id', `:${KEY}`],
  ['an id with a dot, which separates the parts of a sealed text', `a.b:${KEY}`],
  ['too few bytes', `one:${Buffer.alloc(16).toString('base64')}`],
  ['too many bytes', `one:${Buffer.alloc(33).toString('base64')}`],
  ['hexadecimal digits', `one:${Buffer.alloc(32).toString('hex')}`],
  ['a trailing comma', `one:${KEY},`],
  ['a duplicate id', `one:${KEY},one:${OTHER}`],
])('%s is rejected, and the error does not quote it', (_case, value) => {
  const failing = () => load(value)
  expect(failing).toThrow('SECRET_KEYS')
  expect(failing).not.toThrow(KEY)
})

test('production requires keys, and the error shows how to create one', () => {
  const check = (NODE_ENV: string, value: string) => secretKeysInProduction({ NODE_ENV, SECRET_KEYS: load(value) })
  expect(check('production', '')).toContain('openssl rand -base64 32')
  expect(check('production', `one:${RANDOM}`)).toBeUndefined()
  expect(check('development', '')).toBeUndefined()
})

test.each<[string, Buffer]>([
  ['of zero bytes', Buffer.alloc(32)],
  ['of a repeated text', Buffer.from('secret__'.repeat(4))],
  ['for development, which is in the source code', createHash('sha256').update('switchhook, development').digest()],
])('production refuses a key %s, also as a second key; development does not', (_name, key) => {
  const SECRET_KEYS = load(`one:${RANDOM},two:${key.toString('base64')}`)
  expect(secretKeysInProduction({ NODE_ENV: 'production', SECRET_KEYS })).toContain('the key two can be guessed')
  expect(secretKeysInProduction({ NODE_ENV: 'development', SECRET_KEYS })).toBeUndefined()
})

test('without keys the vault uses a public key and logs a warning', () => {
  const warnings: string[] = []
  const log = { warn: (message: string) => void warnings.push(message) }
  const [one, another] = [openVault({ SECRET_KEYS: undefined }, log), openVault({ SECRET_KEYS: undefined }, log)]
  expect(another.open(one.seal('whsec_1', ['a']), ['a'])).toBe('whsec_1')
  expect(warnings).toHaveLength(2)
  expect(warnings[0]).toContain('SECRET_KEYS')
  const sealed = openVault({ SECRET_KEYS: load(`one:${KEY}`) }, log).seal('whsec_1', ['a'])
  expect(sealed).toMatch(/^v1\.one\./)
  expect(() => one.open(sealed, ['a'])).toThrow('not in SECRET_KEYS')
  expect(warnings).toHaveLength(2)
})
