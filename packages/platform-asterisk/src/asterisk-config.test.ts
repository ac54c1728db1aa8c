import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '@switchhook/runtime'
import { asteriskRules, asteriskSettings, ruledFields } from './asterisk-config.ts'

const folder = mkdtempSync(join(tmpdir(), 'asterisk-config-'))
const passwordFile = join(folder, 'password')
const emptyFile = join(folder, 'empty')
writeFileSync(passwordFile, 'not-to-be-shown\n')
writeFileSync(emptyFile, '\n')
afterAll(() => rmSync(folder, { recursive: true }))

const DEVELOPMENT = join(import.meta.dirname, '../../../infra/docker/asterisk/secrets/password')
const ALICE = { agentUri: 'sip:alice@acme.example', tenant: 'acme', endpoint: 'alice' }
const agents = (...all: object[]): string => JSON.stringify(all)

const env = {
  NODE_ENV: 'development',
  PLATFORM: 'asterisk',
  ASTERISK_URL: 'https://pbx.example:8089',
  ASTERISK_PASSWORD_FILE: passwordFile,
  ASTERISK_AGENTS: agents(ALICE),
  ASTERISK_TRUNK: 'pstn',
  ASTERISK_DEFAULT_CLI: '+15550000',
}

const load = (more: Record<string, string>) => loadConfig(ruledFields, { ...env, ...more }, asteriskRules)

test('the required settings are sufficient', () => {
  const { server, ...settings } = asteriskSettings(load({}))
  expect({ ...server, url: server.url.href }).toEqual({
    url: 'https://pbx.example:8089/',
    user: 'switchhook',
    password: 'not-to-be-shown',
    ca: null,
  })
  expect(settings).toEqual({
    manager: null,
    app: 'switchhook',
    agents: [{ ...ALICE, extension: null, answer: 'none' }],
    trunk: { endpoint: 'pstn', sipDomains: [] },
    defaultCli: '+15550000',
    ringSeconds: 30,
  })
})

test('the names of users and the passwords are read without the white space around them', () => {
  const pasted = { ASTERISK_USER: '\ufeffuser\r\n', ASTERISK_MANAGER_USER: 'manager\n' }
  const { server, manager } = asteriskSettings(load({ ...pasted, ASTERISK_MANAGER_PASSWORD_FILE: passwordFile }))
  expect([server.user, manager]).toEqual(['user', { user: 'manager', password: 'not-to-be-shown' }])
})

test('without PLATFORM=asterisk none of them is needed', () => {
  const others = { PLATFORM: 'simulator', NODE_ENV: 'development' }
  expect(loadConfig(ruledFields, others, asteriskRules).PLATFORM).toBe('simulator')
})

test('a password of its own is sufficient in production, and the public one in development', () => {
  expect(load({ NODE_ENV: 'production' }).ASTERISK_PASSWORD_FILE).toBe('not-to-be-shown')
  expect(load({ ASTERISK_PASSWORD_FILE: DEVELOPMENT }).ASTERISK_PASSWORD_FILE).toBe('for-development-only')
})

test('all missing settings are named together', () => {
  const none = { ASTERISK_URL: '', ASTERISK_PASSWORD_FILE: '', ASTERISK_AGENTS: '', ASTERISK_TRUNK: '' }
  expect(() => load({ ...none, ASTERISK_DEFAULT_CLI: '' })).toThrow(
    'PLATFORM=asterisk requires ASTERISK_URL, ASTERISK_PASSWORD_FILE, ASTERISK_AGENTS, ASTERISK_TRUNK, ASTERISK_DEFAULT_CLI',
  )
})

test.each<[string, Record<string, string>, string]>([
  ['credentials in the URL', { ASTERISK_URL: 'https://cc:hidden@pbx.example' }, 'ASTERISK_URL must be'],
  ['a URL of another kind', { ASTERISK_URL: 'ws://pbx.example' }, 'ASTERISK_URL must be'],
  ['an empty password', { ASTERISK_PASSWORD_FILE: emptyFile }, 'ASTERISK_PASSWORD_FILE'],
  [
    'a missing password file',
    { ASTERISK_PASSWORD_FILE: join(folder, 'none') },
    'ASTERISK_PASSWORD_FILE must be the path',
  ],
  ['a certificate that is none', { ASTERISK_CA_FILE: passwordFile }, 'ASTERISK_CA_FILE'],
  ['an application name with a comma', { ASTERISK_APP: 'switch,hook' }, 'ASTERISK_APP'],
  ['a trunk with a slash', { ASTERISK_TRUNK: 'pstn/x' }, 'ASTERISK_TRUNK'],
  ['a SIP domain with an @', { ASTERISK_SIP_DOMAINS: 'a.example,b@c' }, 'ASTERISK_SIP_DOMAINS'],
  ['a default number that is none', { ASTERISK_DEFAULT_CLI: 'anonymous' }, 'ASTERISK_DEFAULT_CLI'],
  ['an unknown way to answer', { ASTERISK_AGENTS: agents({ ...ALICE, answer: 'magic' }) }, '/0/answer'],
  ['an endpoint with a channel technology', { ASTERISK_AGENTS: agents({ ...ALICE, endpoint: 'Local/x' }) }, 'Local/x'],
  ['two agents with one endpoint', { ASTERISK_AGENTS: agents(ALICE, { ...ALICE, tenant: null }) }, 'same endpoint'],
  ['talk without a manager', { ASTERISK_AGENTS: agents({ ...ALICE, answer: 'talk' }) }, 'ASTERISK_MANAGER_USER'],
  ['a public password in production', { NODE_ENV: 'production', ASTERISK_PASSWORD_FILE: DEVELOPMENT }, 'is public'],
  [
    'a public password of the manager in production',
    { NODE_ENV: 'production', ASTERISK_MANAGER_PASSWORD_FILE: DEVELOPMENT },
    'ASTERISK_MANAGER_PASSWORD_FILE',
  ],
  ['passwords over http in production', { NODE_ENV: 'production', ASTERISK_URL: 'http://pbx' }, 'https://'],
])('%s prevents the start', (_name, more, said) => {
  expect(() => load(more)).toThrow(said)
  expect(() => load(more)).not.toThrow(/hidden|not-to-be-shown/)
})
