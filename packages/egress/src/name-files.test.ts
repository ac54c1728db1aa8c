import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@switchhook/testkit'
import { candidatesOf, parseHosts, parseSearchRules, watchedFile } from './name-files.ts'

test('the hosts file has every address of a name, in its order', () => {
  const hosts = parseHosts(
    '# comment\n127.0.0.1\tlocalhost  app\r\n::1 localhost # the other\n10.0.0.7 App web.dev\n10.0.0.7 app\nnonsense app\n10.0.0.9\n',
  )
  expect(hosts.get('localhost')).toEqual(['127.0.0.1', '::1'])
  expect(hosts.get('app')).toEqual(['127.0.0.1', '10.0.0.7'])
  expect(hosts.get('web.dev')).toHaveLength(1)
  expect(hosts.has('nonsense')).toBe(false)
})

test.each([
  'fe80::1%eth0 app',
  '127.1 app',
  '010.0.0.7 app',
  '0x7f.0.0.1 app',
  '2130706433 app',
  '[::1] app',
  '10.0.0.7:80 app',
  '10.0.0.7/8 app',
  '# 10.0.0.7 app',
  '10.0.0.7#app',
  '10.0.0.7\napp',
  '10.0.0.7 app.',
])('the line %j of a hosts file names no address of app', (text) => {
  expect(parseHosts(text).get('app')).toBeUndefined()
})

test.each(['\t10.0.0.7 \x0b APP#x', '10.0.0.7 other app', '10.0.0.7 ;x app', '10.0.0.7 app'])(
  'the line %j of a hosts file names one',
  (text) => {
    expect(parseHosts(text).get('app')).toEqual(['10.0.0.7'])
  },
)

// Compared with what getent of glibc 2.36 asks a name server for.
test.each<[string, string, readonly string[], number]>([
  ['', 'box', [], 1],
  ['', 'box.corp.example', ['corp.example'], 1],
  ['search a.example b.example\noptions edns0 ndots:5 rotate', 'box', ['a.example', 'b.example'], 5],
  ['search a.example\ndomain b.example c.example', 'box', ['b.example'], 1],
  ['domain b.example\nsearch a.example. .', 'box', ['a.example', ''], 1],
  ['search .', 'box.corp.example', [''], 1],
  ['search a.example\nsearch\ndomain \n', 'box', ['a.example'], 1],
  [' search a.example\n\toptions ndots:5\nSEARCH b.example\nsearching c.example', 'box', [], 1],
  ['search a.example # b.example', 'box', ['a.example', '#', 'b.example'], 1],
  ['search\ta.example\r\noptions\tndots:3\r\n', 'box', ['a.example'], 3],
  ['options ndots:2 ndots:3\noptions edns0', 'box', [], 3],
  ['options ndots:3\noptions ndots:2', 'box', [], 2],
  ['options ndots:3x', 'box', [], 3],
  ['options ndots: 3', 'box', [], 3],
  ['options ndots: NDOTS:3 xndots:3', 'box', [], 0],
  ['options\nndots:3', 'box', [], 1],
  ['options ndots:0', 'box', [], 0],
  ['options ndots:99', 'box', [], 15],
  ['options ndots:x\n; options ndots:3\n# search d.example', 'box', [], 0],
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

test.each<[string[], number, readonly string[]]>([
  [['', 'a'], 5, ['web.dev', 'web.dev.a']],
  [['a', ''], 5, ['web.dev.a', 'web.dev']],
  [['a', '', 'a'], 1, ['web.dev', 'web.dev.a']],
])('below %j with ndots %i, web.dev is asked for as %j', (search, ndots, expected) => {
  expect(candidatesOf('web.dev', { search, ndots })).toEqual(expected)
})

test('a file is parsed again when it has changed, however, and only then', () => {
  const folder = temporaryFolder('name-files-')
  const path = join(folder, 'hosts')
  const texts: string[] = []
  const read = watchedFile(path, (text) => {
    texts.push(text)
    return text
  })
  expect([read(), read()]).toEqual(['', ''])
  writeFileSync(path, 'one')
  expect([read(), read()]).toEqual(['one', 'one'])
  utimesSync(path, 1, 1)
  read()
  const before = statSync(path).ctimeMs
  // The clock of a file system may take steps of some milliseconds.
  do {
    writeFileSync(path, 'two')
    utimesSync(path, 1, 1)
  } while (statSync(path).ctimeMs === before)
  expect([read(), read()]).toEqual(['two', 'two'])
  writeFileSync(`${path}.new`, 'six')
  renameSync(`${path}.new`, path)
  expect([read(), read()]).toEqual(['six', 'six'])
  rmSync(path)
  expect([read(), read()]).toEqual(['', ''])
  expect(texts).toEqual(['', 'one', 'one', 'two', 'six', ''])
  rmSync(folder, { recursive: true })
})
