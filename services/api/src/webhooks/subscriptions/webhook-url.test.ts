import { createAddressGuard } from '@switchhook/egress'
import * as fc from 'fast-check'
import { MAX_URL_LENGTH, webhookUrlFault } from './webhook-url.ts'

const guard = createAddressGuard(['127.0.0.0/8', '::1/128'])
const lenient = { requireHttps: false, guard }
const strict = { requireHttps: true, guard }

test.each([
  'https://client.example',
  'https://client.example/',
  'https://client.example/hooks/calls?tenant=a&b=%20c',
  'HTTPS://CLIENT.EXAMPLE/Hooks',
  'http://client.example:8080/hooks',
  'http://127.0.0.1:1/',
  'http://[::1]:8080/',
  'https://client.example:443/',
  'http://client.example:80',
  'https://client.example?a=1',
  'https://xn--bcher-kva.example/stra%C3%9Fe',
  "https://client.example/a'b;c=d,e(f)*!$&+:@~",
  'https://client.example/%zz/%',
  'https://client.example/mailto:a@b',
  'https://client.example/?to=a@b',
  'https://CLIENT.example.:443/',
  'http://[2606:2800:21F:CB07::1]:80/',
  'https://client.example//a//...;/..b/%2F/%5C/%2e%2e%2e/[x]|y',
  'https://client.example/?a?../b/./|^`{}[]+%27%',
  'https://client.example:443?x',
])('%s is accepted', (url) => {
  expect(webhookUrlFault(url, lenient)).toBeUndefined()
})

test.each([
  ['nothing', '', 'absolute'],
  ['a word', 'hello', 'absolute'],
  ['a relative url', '/hooks', 'absolute'],
  ['a host without a scheme', 'client.example/hooks', 'absolute'],
  ['a network-path reference', '//client.example/hooks', 'absolute'],
  ['a url without a host', 'https://', 'absolute'],
  ['a url with an empty host', 'https:///hooks', 'absolute'],
  ['missing slashes', 'https:client.example', 'absolute'],
  ['one slash', 'https:/client.example', 'absolute'],
  ['a slash and a backslash', String.raw`https:/\client.example/`, 'absolute'],
  ['a backslash before credentials', String.raw`https://client.example\@other.example/`, 'backslashes'],
  ['a tab in the scheme', 'ht\ttps://client.example/', 'absolute'],
  ['a tab in the host', 'https://client\t.example/', 'control'],
  ['a line separator', 'https://client.example/a\u2028b', 'whitespace'],
  ['a host with a zone', 'https://[fe80::1%25eth0]/', 'absolute'],
  ['an address of more than 32 bits', 'https://256.1.1.1/', 'absolute'],
  ['a host with a NUL', 'https://a%00.example/', 'absolute'],
  ['backslashes instead of slashes', String.raw`https:\\client.example`, 'absolute'],
  ['a backslash in the path', String.raw`https://client.example\hooks`, 'backslashes'],
  ['another scheme', 'ftp://client.example/', 'absolute'],
  ['a script', 'javascript:alert(1)', 'absolute'],
  ['a file', 'file:///etc/passwd', 'absolute'],
  ['a port out of range', 'https://client.example:70000/', 'absolute'],
  ['port 0', 'https://client.example:0/', 'port 0'],
  ['the port of mail servers', 'http://client.example:25/', 'port 25'],
  ['a host that is not a valid address', 'https://1.2.3.4.5/', 'absolute'],
  ['leading whitespace', ' https://client.example/', 'absolute'],
  ['trailing whitespace', 'https://client.example/ ', 'whitespace'],
  ['whitespace inside', 'https://client.example/a b', 'whitespace'],
  ['a line break', 'https://client.example/\r\nX-Evil: 1', 'control'],
  ['a tab', 'https://client.example/\thooks', 'control'],
  ['a NUL', 'https://client.example/\0', 'control'],
  ['an unpaired surrogate', 'https://client.example/\ud800', 'control'],
  ['a user', 'https://user@client.example/', 'credentials'],
  ['a password', 'https://user:secret@client.example/', 'credentials'],
  ['empty credentials', 'https://@client.example/', 'credentials'],
  ['a fragment', 'https://client.example/#top', 'fragment'],
  ['an empty fragment', 'https://client.example/#', 'fragment'],
  ['too many characters', `https://client.example/${'a'.repeat(MAX_URL_LENGTH)}`, 'longer than 2048'],
])('%s is rejected', (_name, url, reason) => {
  expect(webhookUrlFault(url, lenient)).toContain(reason)
})

test.each([
  ['https://client.example/a/../b', '/b'],
  ['https://client.example/./hook', '/hook'],
  ['https://client.example/a/..', '/'],
  ['https://client.example/a/%2e%2E/b', '/b'],
  ['https://client.example/straße', '/stra%C3%9Fe'],
  ['https://client.example/a"b', '/a%22b'],
  ['https://client.example/<a>', '/%3Ca%3E'],
  ['https://client.example/{id}', '/%7Bid%7D'],
  ['https://client.example/?a=ü', '?a=%C3%BC'],
  ["https://client.example/?a='x'", '?a=%27x%27'],
  ['https://client.example/hook?', '/hook'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://cl%69ent.example/', 'https://client.example/'],
  ['https://client。example/', 'https://client.example/'],
  ['https://client.example:0443/', 'https://client.example/'],
  ['https://client.example:/', 'https://client.example/'],
  ['http://127.1/', 'http://127.0.0.1/'],
  ['http://[0:0::1]/', 'http://[::1]/'],
  ['https://faß.example/', 'https://xn--fa-hia.example/'],
  ['https://a\u00adb.example/', 'https://ab.example/'],
  ['https://a%2eb.example/', 'https://a.b.example/'],
  ['http://１２７.0.0.1/', 'http://127.0.0.1/'],
  ['http://0177.0.0.1/', 'http://127.0.0.1/'],
  ['http://0x7f.1/', 'http://127.0.0.1/'],
  ['http://2130706433/', 'http://127.0.0.1/'],
  ['http://127.0.0.1./', 'http://127.0.0.1/'],
  ['http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/'],
  ['https://client.example:08443/', 'https://client.example:8443/'],
  ['https://client.example/..', 'https://client.example/'],
  ['https://client.example/a/.%2e/b', '/b'],
  ['https://client.example/a^`b', '/a%5E%60b'],
  ['https://client.example/e\u0301\u200b', '/e%CC%81%E2%80%8B'],
  ['https://client.example/?a=<">', '?a=%3C%22%3E'],
  ['https://client.example?', 'https://client.example/'],
])('%s is rejected, because %s would be sent', (url, sent) => {
  expect(webhookUrlFault(url, lenient)).toContain(`would be sent as`)
  expect(webhookUrlFault(url, lenient)).toContain(sent)
})

test('http is rejected if https is required', () => {
  expect(webhookUrlFault('http://client.example/', strict)).toContain('https')
  expect(webhookUrlFault('https://client.example/', strict)).toBeUndefined()
})

test.each([
  'http://10.0.0.1/',
  'http://[fd00::1]/',
  'http://169.254.169.254/latest',
  'http://0xa000001/',
  'http://[::ffff:a00:1]/',
])('%s, which is neither public nor allowed, is rejected', (url) => {
  expect(webhookUrlFault(url, lenient)).toContain('private, local or reserved')
})

test('localhost is rejected if no network is allowed', () => {
  const rules = { requireHttps: false, guard: createAddressGuard([]) }
  expect(webhookUrlFault('http://localhost:9000/', rules)).toContain('private, local or reserved')
  expect(webhookUrlFault('http://127.0.0.1:9000/', rules)).toContain('private, local or reserved')
})

test('a fault never quotes the url', () => {
  expect(webhookUrlFault('https://user:secret@client.example/', lenient)).not.toContain('secret')
})

test('every accepted url with a path is sent exactly as written', () => {
  const pieces = String.raw`. .. / // \\ %2e %2E % %zz ? # @ : | ^ { < > [ ] ' " & = + ü 😀 a b`
    .split(' ')
    .concat('\t', ' ', '\u200b', '\ud83d')
  const hosts = ['client.example', 'client.example.', '127.0.0.1', '127.1', '[::1]:8443', 'bücher.example', 'a%2eb']
  const url = fc
    .tuple(fc.constantFrom(...hosts), fc.array(fc.constantFrom(...pieces), { maxLength: 8 }))
    .map(([host, rest]) => `https://${host}/${rest.join('')}`)
  fc.assert(
    fc.property(fc.oneof(url, fc.webUrl({ withQueryParameters: true, validSchemes: ['https'] })), (written) => {
      const hasPath = /^https:..[^/?#]+\//.test(written)
      if (hasPath && webhookUrlFault(written, lenient) === undefined) expect(new URL(written).href).toBe(written)
    }),
    { numRuns: 1_000 },
  )
})
