import { type EgressProxy, egressProxyField } from './egress-proxy.ts'

const basic = (login: string): string => `Basic ${Buffer.from(login).toString('base64')}`

test.each<[string, EgressProxy | undefined]>([
  ['', undefined],
  ['http://proxy.example:3128', { isTls: false, host: 'proxy.example', port: 3128 }],
  ['http://proxy.example/', { isTls: false, host: 'proxy.example', port: 80 }],
  ['https://proxy.example', { isTls: true, host: 'proxy.example', port: 443 }],
  ['http://[fd00::5]:3128', { isTls: false, host: 'fd00::5', port: 3128 }],
  [
    'http://user:p%40ss%3Aword@10.0.0.5:3128',
    { isTls: false, host: '10.0.0.5', port: 3128, authorization: basic('user:p@ss:word') },
  ],
  ['\ufeffhttp://u:p@10.0.0.5\n', { isTls: false, host: '10.0.0.5', port: 80, authorization: basic('u:p') }],
  ['http://token@10.0.0.5', { isTls: false, host: '10.0.0.5', port: 80, authorization: basic('token:') }],
])('%j is read', (raw, expected) => expect(egressProxyField.parse(raw)).toEqual(expected))

test.each<[string, RegExp]>([
  ['secret.example:3128', /^must be a URL such as http:\/\/proxy\.example:3128, without a path$/],
  ['socks5://secret.example', /without a path/],
  ['http://secret.example/path', /without a path/],
  ['http://secret.example/?a=b', /without a path/],
  ...['%zz', '%e9', '#', '/', '?', '@'].map((character): [string, RegExp] => [
    `http://user:12${character}secret@proxy.example`,
    /percent-encoded/,
  ]),
  ['http://user:sec\nret@secret.example', /one line/],
])('%s is refused with what is expected, without the value', (raw, expected) => {
  const parse = (): unknown => egressProxyField.parse(raw)
  expect(parse).toThrow(expected)
  expect(parse).not.toThrow(/secret/)
})
