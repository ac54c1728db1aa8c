import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFields } from './common-fields.ts'
import { loadConfig } from './config.ts'
import { amqpAddress, amqpFields, amqpRules, redisAddress, redisFields, redisRules } from './connection-fields.ts'

let folder: string
let passwordFile: string
let emptyFile: string
let placeholderFile: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchhook-config-'))
  passwordFile = join(folder, 'password')
  emptyFile = join(folder, 'empty')
  writeFileSync(passwordFile, 'p@ss/w:rd%\n')
  writeFileSync(emptyFile, '\n')
  placeholderFile = join(folder, 'placeholder')
  writeFileSync(placeholderFile, 'CHANGE-ME\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const fields = { ...amqpFields, ...redisFields, ...startFields }
const load = (env: Readonly<Record<string, string>>) =>
  loadConfig(fields, { AMQP_URL: 'amqp://h', REDIS_URL: 'redis://h', ...env }, [...amqpRules, ...redisRules])

test('URLs without settings for them stay as they are', () => {
  const config = load({ AMQP_URL: 'amqp://u:p@a/v,amqp://b', REDIS_URL: 'redis://:p@h/2' })
  expect(amqpAddress(config).url).toEqual(['amqp://u:p@a/v', 'amqp://b'])
  expect(redisAddress(config)).toEqual({ url: ['redis://:p@h/2'] })
})

test.each([
  'redis://h/',
  'rediss+sentinel://a/main',
  'redis+sentinel://a/main/2,redis+sentinel://b',
  'redis+cluster://a/0',
])('REDIS_URL may be %s', (REDIS_URL) => expect(load({ REDIS_URL }).REDIS_URL.join(',')).toBe(REDIS_URL))

test('user and password apply to every URL, whatever characters they contain', () => {
  const AMQP_URL = 'amqp://a:5672/v%2Fh,amqps://b'
  const given = load({ AMQP_URL, AMQP_USERNAME: 'u@', AMQP_PASSWORD: 'p@ss/w:rd%' })
  const fromFile = load({ AMQP_URL, AMQP_USERNAME: 'u@', AMQP_PASSWORD_FILE: passwordFile })
  for (const config of [given, fromFile]) {
    const urls = amqpAddress(config).url.map((url) => new URL(url))
    expect(urls.map(({ host, pathname }) => host + pathname)).toEqual(['a:5672/v%2Fh', 'b'])
    for (const { username, password } of urls) {
      expect([username, password].map(decodeURIComponent)).toEqual(['u@', 'p@ss/w:rd%'])
    }
  }
  const [redis = ''] = redisAddress(load({ REDIS_URL: 'redis://user@h/2', REDIS_PASSWORD_FILE: passwordFile })).url
  expect(redis).toBe('redis://user:p%40ss%2Fw%3Ard%25@h/2')
})

test.each(['p@ss', ' p@ss ', 'p@ss\n', 'p@ss\r\n\n', '\ufeffp@ss', '\ufeff p@ss\n'])(
  'the password %j is read without the white space around it, from a variable and from a file',
  (pasted) => {
    const path = join(folder, 'pasted')
    writeFileSync(path, pasted)
    for (const env of [{ REDIS_PASSWORD: pasted }, { REDIS_PASSWORD_FILE: path }]) {
      expect(redisAddress(load(env)).url).toEqual(['redis://:p%40ss@h'])
    }
    const login = load({ AMQP_USERNAME: ` u${pasted}`, AMQP_PASSWORD_FILE: path })
    expect(amqpAddress(login).url).toEqual([`amqp://u${encodeURIComponent(pasted.trimEnd())}:p%40ss@h`])
  },
)

test.each(['secret\nmore', 'sec\u0000ret', 'sec\tret'])('the password %j ends the start', (pasted) => {
  const path = join(folder, 'pasted')
  writeFileSync(path, pasted)
  expect(() => load({ REDIS_PASSWORD: pasted })).toThrow(/REDIS_PASSWORD must be one line without control characters/)
  expect(() => load({ REDIS_PASSWORD_FILE: path })).toThrow(/REDIS_PASSWORD_FILE must be .* one line without control/)
})

test.each(['#', '/', '?', '%', '@', '%zz', '%e9'])(
  'an unencoded %s in the password of a URL ends the start',
  (character) => {
    for (const [name, scheme] of [
      ['AMQP_URL', 'amqp'],
      ['REDIS_URL', 'redis'],
    ]) {
      const given = () => load({ [name ?? '']: `${scheme}://user:12${character}secret@h:1/0` })
      expect(given).toThrow(new RegExp(`${name} must have its user and password percent-encoded`))
      expect(given).not.toThrow(/secret/)
    }
  },
)

test.each<[string, RegExp]>([
  // A variable of a template that was empty.
  ['amqp://', /AMQP_URL must be URLs that start with amqp:/],
  ['redis:///2', /REDIS_URL must be URLs that start with redis:/],
  ['amqp:broker', /AMQP_URL must be URLs/],
  ['amqp://a:5672,amqp://', /AMQP_URL must be URLs/],
  ['amqp://h/50%', /AMQP_URL must have its virtual host percent-encoded/],
  ['amqp://h/%e9', /AMQP_URL must have its virtual host percent-encoded/],
  ['amqp://u:sec\nret@h', /AMQP_URL must be one line without control characters/],
  ['redis://:sec\tret@h', /REDIS_URL must be one line/],
  // A script encoded the line end of a file.
  ['amqp://u:secret%0A@h', /AMQP_URL must be one line without control characters, also decoded/],
  ['amqp://h?heartbeat=abc', /AMQP_URL has a value of the parameter heartbeat that does not work/],
  ['amqp://h?heartbeat=-1', /heartbeat/],
  ['amqp://a?heartbeat=5,amqp://b?heartbeat=', /heartbeat/],
  ['amqp://h?frameMax=65535', /frameMax/],
  ['amqp://h?channelMax=abc', /channelMax/],
  ['amqp://h?channelMax=10', /channelMax/],
  [
    'amqp://h?connection_timeout=5',
    /"connection_timeout"; the parameters that are taken: heartbeat, channelMax, frameMax/,
  ],
  ['redis://h?lazyConnect=true', /REDIS_URL has the parameter "lazyConnect"; the parameters that are taken: family/],
  ['rediss://h?family=5', /family/],
  ['redis+cluster://h?family=6', /"family"; the parameters that are taken: none/],
])('%s ends the start', (url, problem) => {
  const name = url.startsWith('amqp') ? 'AMQP_URL' : 'REDIS_URL'
  expect(() => load({ [name]: url })).toThrow(problem)
  expect(() => load({ [name]: url })).not.toThrow(/ret@/)
})

test.each([
  'amqp://h?heartbeat=30&frameMax=0&channelMax=0',
  'amqp://h?frameMax=65536',
  'redis://h/0?family=6',
  'amqps://u%40:p%23@h/v%2Fh',
])('%s is taken as it is', (url) => {
  const name = url.startsWith('amqp') ? 'AMQP_URL' : 'REDIS_URL'
  expect(load({ [name]: url })[name]).toEqual([url])
})

test.each<[number, Record<string, string>]>([
  [1, { AMQP_URL: 'amqp://a' }],
  [2, { AMQP_URL: 'amqp://a,amqp://b' }],
  [3, { AMQP_URL: 'amqp://a,amqp://b,amqp://c,amqp://d,amqp://e' }],
  [1, { AMQP_URL: 'amqp://a,amqp://b,amqp://c', AMQP_NODES: '1' }],
])('%i nodes must run with %j', (expected, env) => {
  expect(amqpAddress(load(env)).formedBy).toBe(expected)
})

test.each<[RegExp, () => Record<string, string>]>([
  [
    /REDIS_PASSWORD and REDIS_PASSWORD_FILE are both set/,
    () => ({ REDIS_PASSWORD: 'a', REDIS_PASSWORD_FILE: passwordFile }),
  ],
  [
    /AMQP_PASSWORD and AMQP_PASSWORD_FILE are both set/,
    () => ({ AMQP_PASSWORD: 'a', AMQP_PASSWORD_FILE: passwordFile }),
  ],
  [/REDIS_URL must not contain a password/, () => ({ REDIS_URL: 'redis://:secret@h', REDIS_PASSWORD: 'secret' })],
  [/AMQP_URL must not contain a password/, () => ({ AMQP_URL: 'amqp://u:secret@h', AMQP_PASSWORD: 'secret' })],
  [/AMQP_URL must not contain a user/, () => ({ AMQP_URL: 'amqp://u@h', AMQP_USERNAME: 'u' })],
  [/AMQP_USERNAME is required/, () => ({ AMQP_PASSWORD: 'secret' })],
  [/AMQP_NODES is 3, but AMQP_URL names only 2/, () => ({ AMQP_URL: 'amqp://a,amqp://b', AMQP_NODES: '3' })],
  ...['redis://h/name', 'redis+sentinel://a', 'redis+sentinel://a/main/x', 'redis+cluster://a/3'].map(
    (REDIS_URL): [RegExp, () => Record<string, string>] => [/REDIS_URL must end in/, () => ({ REDIS_URL })],
  ),
  [
    /REDIS_PASSWORD_FILE must be the path of a file whose content must not be empty/,
    () => ({ REDIS_PASSWORD_FILE: emptyFile }),
  ],
  [/AMQP_PASSWORD_FILE must be the path of a file that can be read/, () => ({ AMQP_PASSWORD_FILE: `${folder}/none` })],
  [
    /AMQP_CA_FILE must be the path of a file whose content must be certificates in PEM/,
    () => ({ AMQP_CA_FILE: passwordFile }),
  ],
  [/REDIS_DURABILITY must be one of checked, attested/, () => ({ REDIS_DURABILITY: 'hoped' })],
])('%s', (problem, env) => {
  expect(() => load(env())).toThrow(problem)
  expect(() => load(env())).not.toThrow(/secret|p@ss/)
})

const OWN = { NODE_ENV: 'production', AMQP_URL: 'amqp://u:own@h', REDIS_URL: 'redis://h' }

test.each<[string, RegExp, () => Record<string, string>]>([
  ['guest in the URL', /AMQP_URL has a password that is public/, () => ({ AMQP_URL: 'amqp://guest:guest@h' })],
  ['guest on this machine', /AMQP_URL has a password/, () => ({ AMQP_URL: 'amqp://guest:guest@127.0.0.1' })],
  ['an encoded password', /AMQP_URL has a password/, () => ({ AMQP_URL: 'amqp://guest:%67uest@h' })],
  ['the password of one node', /AMQP_URL has a password/, () => ({ AMQP_URL: 'amqp://u:own@a,amqp://u:switchhook@b' })],
  ['no login for RabbitMQ', /AMQP_URL needs a user and a password/, () => ({ AMQP_URL: 'amqp://h' })],
  [
    'a password of the chart',
    /AMQP_PASSWORD has a password that is public/,
    () => ({ AMQP_URL: 'amqp://h', AMQP_USERNAME: 'api', AMQP_PASSWORD: 'switchhook' }),
  ],
  [
    'a placeholder in a file',
    /AMQP_PASSWORD_FILE has a password that is public/,
    () => ({ AMQP_URL: 'amqp://u@h', AMQP_PASSWORD_FILE: placeholderFile }),
  ],
  ['a URL of Redis', /REDIS_URL has a password that is public/, () => ({ REDIS_URL: 'redis://:switchhook@h' })],
  ['a password of Redis', /REDIS_PASSWORD has a password that is public/, () => ({ REDIS_PASSWORD: 'switchhook' })],
])('production refuses %s; development does not', (_name, problem, env) => {
  expect(() => load({ ...OWN, ...env() })).toThrow(problem)
  expect(load({ ...OWN, ...env(), NODE_ENV: 'development' }).NODE_ENV).toBe('development')
})

test('production accepts passwords that are not public, and a Redis without one', () => {
  expect(load(OWN).AMQP_URL).toEqual(['amqp://u:own@h'])
  const given = { ...OWN, AMQP_URL: 'amqp://a,amqp://b', AMQP_USERNAME: 'guest', AMQP_PASSWORD: 'own' }
  expect(load({ ...given, REDIS_PASSWORD_FILE: passwordFile }).NODE_ENV).toBe('production')
})

test('authorities need TLS at every URL, and several certificates in one file are read', () => {
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, `comment\n${CERTIFICATE}\n${CERTIFICATE}`)
  const tls = {
    AMQP_URL: 'amqps://a,amqps://b',
    REDIS_URL: 'rediss+cluster://a',
    AMQP_CA_FILE: caFile,
    REDIS_CA_FILE: caFile,
  }
  const config = load(tls)
  expect(amqpAddress(config).ca).toBe(`${CERTIFICATE}\n${CERTIFICATE}`)
  expect(redisAddress(config).ca?.match(/BEGIN/g)).toHaveLength(2)
  expect(() => load({ ...tls, AMQP_URL: 'amqps://a,amqp://b' })).toThrow('AMQP_CA_FILE needs TLS')
  expect(() => load({ ...tls, REDIS_URL: 'redis+cluster://a' })).toThrow('REDIS_CA_FILE needs TLS')
})

/** A self-signed certificate whose key was not kept. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdTCCARugAwIBAgIUHiT7M7pVjCBF5MUX71L77ii2qBIwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEVGVzdDAgFw0yNjExMjIwOTAxNDhaGA8yMTI2MTAyOTA5MDE0
OFowDzENMAsGA1UEAwwEVGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOLz
n5TsB59x3ZEOUmslVFoa8p6l8VIcdtbl/hl2fQwy2MZJ1QzFOBR833xJWn6MHRia
dk/XweVrRXc0yqITFf6jUzBRMB0GA1UdDgQWBBRSxOmrXIWHkRhUq8/Vek1HyJ0D
CzAfBgNVHSMEGDAWgBRSxOmrXIWHkRhUq8/Vek1HyJ0DCzAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0gAMEUCIAngs8cLO9IftFx6vsZm9a48gTWO5rEhkYU1
QrG7b0AZAiEA5m8drFUkyY2sgkXQ2g5Ca82fGmFAUgmEiDL05uQZYzY=
-----END CERTIFICATE-----`
