import { readAddress } from './client.ts'

test.each<[string, string[], ReturnType<typeof readAddress>]>([
  ['one Redis', ['redis://h'], { form: 'single', tls: false, nodes: [{ host: 'h', port: 6_379 }], path: [] }],
  [
    'a Redis with a password, over TLS',
    ['rediss://u:p%40@h:7000/3'],
    { form: 'single', tls: true, nodes: [{ host: 'h', port: 7_000 }], username: 'u', password: 'p@', path: ['3'] },
  ],
  [
    'sentinels',
    ['redis+sentinel://:p@a/main/2', 'redis+sentinel://[::1]:5000'],
    {
      form: 'sentinel',
      tls: false,
      nodes: [
        { host: 'a', port: 26_379 },
        { host: '::1', port: 5_000 },
      ],
      password: 'p',
      path: ['main', '2'],
    },
  ],
  [
    'a cluster over TLS',
    ['rediss+cluster://a', 'rediss+cluster://b:1'],
    {
      form: 'cluster',
      tls: true,
      nodes: [
        { host: 'a', port: 6_379 },
        { host: 'b', port: 1 },
      ],
      path: [],
    },
  ],
])('%s', (_what, urls, expected) => expect(readAddress(urls)).toEqual(expected))
