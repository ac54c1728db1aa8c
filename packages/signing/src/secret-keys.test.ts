import { inspect } from 'node:util'
import { loadConfig, optional } from '@switchhook/runtime'
import { openVault } from './open-vault.ts'
import { secretKeys, secretKeysInProduction } from './secret-keys.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const OTHER = Buffer.alloc(32, 2).toString('base64')
const fields = { SECRET_KEYS: optional(secretKeys()) }
const load = (SECRET_KEYS: string) => loadConfig(fields, { SECRET_KEYS }).SECRET_KEYS

test('one key or several, each by its name', () => {
  expect(load(`one:${KEY}`)?.map(({ id }) => id)).toEqual(['one'])
  expect(load(`2026-11:${KEY}, old_1:${OTHER}`)?.map(({ id }) => id)).toEqual(['2026-11', 'old_1'])
})

test('whoever looks at the configuration sees no key', () => {
  const keys = load(`one:${KEY}`)
  const shown = `${inspect(keys, { depth: 9 })} ${JSON.stringify(keys)}`
  for (const encoding of ['base64', 'hex', 'latin1'] as const) {
    expect(shown).not.toContain(Buffer.alloc(32, 1).toString(encoding))
  }
})

test.each<[string, string]>([
  ['no name', KEY],
  ['an empty name', `:${KEY}`],
  ['a name with a dot, which divides a sealed text', `a.b:${KEY}`],
  ['too few bytes', `one:${Buffer.alloc(16).toString('base64')}`],
  ['too many bytes', `one:${Buffer.alloc(33).toString('base64')}`],
  ['hexadecimal digits', `one:${Buffer.alloc(32).toString('hex')}`],
  ['a comma too many', `one:${KEY},`],
  ['a name that comes twice', `one:${KEY},one:${OTHER}`],
])('%s stops the start, and nothing of it is quoted', (_name, value) => {
  const failing = () => load(value)
  expect(failing).toThrow('SECRET_KEYS')
  expect(failing).not.toThrow(KEY)
})

test('production does not start without keys, and is told how to make one', () => {
  const judge = (NODE_ENV: string, value: string) => secretKeysInProduction({ NODE_ENV, SECRET_KEYS: load(value) })
  expect(judge('production', '')).toContain('openssl rand -base64 32')
  expect(judge('production', `one:${KEY}`)).toBeUndefined()
  expect(judge('development', '')).toBeUndefined()
})

test('without keys the vault is open to everybody, and says so', () => {
  const said: string[] = []
  const log = { warn: (message: string) => void said.push(message) }
  const [one, another] = [openVault({ SECRET_KEYS: undefined }, log), openVault({ SECRET_KEYS: undefined }, log)]
  expect(another.open(one.seal('whsec_1', ['a']), ['a'])).toBe('whsec_1')
  expect(said).toHaveLength(2)
  expect(said[0]).toContain('SECRET_KEYS')
  const sealed = openVault({ SECRET_KEYS: load(`one:${KEY}`) }, log).seal('whsec_1', ['a'])
  expect(sealed).toMatch(/^v1\.one\./)
  expect(() => one.open(sealed, ['a'])).toThrow('SECRET_KEYS does not name')
  expect(said).toHaveLength(2)
})
