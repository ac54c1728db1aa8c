import { candidatesOf, parseHosts, parseSearchRules } from './name-files.ts'

test('the hosts file has every address of a name, in its order', () => {
  const hosts = parseHosts(
    '# comment\n127.0.0.1\tlocalhost  app\r\n::1 localhost # the other\n10.0.0.7 App web.dev\n10.0.0.7 app\nnonsense app\n10.0.0.9\n',
  )
  expect(hosts.get('localhost')).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ])
  expect(hosts.get('app')).toEqual([
    { address: '127.0.0.1', family: 4 },
    { address: '10.0.0.7', family: 4 },
  ])
  expect(hosts.get('web.dev')).toHaveLength(1)
  expect(hosts.has('nonsense')).toBe(false)
})

test.each<[string, string, readonly string[], number]>([
  ['', 'box', [], 1],
  ['', 'box.corp.example', ['corp.example'], 1],
  ['search a.example b.example\noptions edns0 ndots:5 rotate', 'box', ['a.example', 'b.example'], 5],
  ['search a.example\ndomain b.example c.example', 'box', ['b.example'], 1],
  ['domain b.example\nsearch a.example. .', 'box', ['a.example'], 1],
  ['options ndots:0', 'box', [], 0],
  ['options ndots:99', 'box', [], 15],
  ['options ndots:x\n; options ndots:3\n# search d.example', 'box', [], 1],
])('%j on %s', (text, name, search, ndots) => {
  expect(parseSearchRules(text, name)).toEqual({ search, ndots })
})

test.each<[string, number, readonly string[]]>([
  ['web', 1, ['web.a', 'web.b', 'web']],
  ['web.dev', 1, ['web.dev', 'web.dev.a', 'web.dev.b']],
  ['web.dev', 5, ['web.dev.a', 'web.dev.b', 'web.dev']],
  ['web.dev.', 5, ['web.dev']],
  ['web', 0, ['web', 'web.a', 'web.b']],
  ['x'.repeat(252), 1, ['x'.repeat(252)]],
])('%s with ndots %i is asked for as %j', (name, ndots, expected) => {
  expect(candidatesOf(name, { search: ['a', 'b'], ndots })).toEqual(expected)
})
