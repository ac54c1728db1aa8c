import { createTargets } from './post.ts'

const publicOnly = { allowsHost: (hostname: string) => hostname !== '127.0.0.1' }

test.each([
  ['https://client.example/hook?a=1#part', { kind: 'target', origin: 'https://client.example', path: '/hook?a=1' }],
  ['http://client.example:8080', { kind: 'target', origin: 'http://client.example:8080', path: '/' }],
  ['https://127.0.0.1/hook', { kind: 'unreachable', reason: 'blocked' }],
  ['ftp://client.example/hook', { kind: 'unreachable', reason: 'unusable-url' }],
  ['not a url', { kind: 'unreachable', reason: 'unusable-url' }],
])('%s becomes %j, the first time and from the cache', (url, expected) => {
  const targets = createTargets(publicOnly)
  expect(targets(url)).toEqual(expected)
  expect(targets(url)).toEqual(expected)
})

test('a url is vetted once, and again only after many others have been vetted', () => {
  let asked = 0
  const targets = createTargets({ allowsHost: () => (asked += 1) > 0 })
  for (let time = 0; time < 3; time += 1) targets('https://client.example/hook')
  expect(asked).toBe(1)
  for (let other = 0; other < 10_000; other += 1) targets(`https://client.example/${other}`)
  targets('https://client.example/hook')
  expect(asked).toBe(10_002)
})
