import {
  assertDurable,
  type DurabilityRule,
  type DurabilitySettings,
  fullestOf,
  parseMemory,
  problemsOf,
  readSettings,
} from './durability.ts'

const fit: DurabilitySettings = { appendOnly: 'yes', appendFsync: 'always', evictionPolicy: 'noeviction' }
const hidden: DurabilitySettings = { appendOnly: undefined, appendFsync: undefined, evictionPolicy: undefined }

test.each<[string, DurabilityRule, DurabilitySettings, RegExp[]]>([
  ['every write is synced immediately', 'checked', fit, []],
  ['syncing every second is allowed', 'checked', { ...fit, appendFsync: 'everysec' }, []],
  ['no append-only file', 'checked', { ...fit, appendOnly: 'no' }, [/appendonly yes/]],
  ['the file is not synced', 'checked', { ...fit, appendFsync: 'no' }, [/appendfsync always/]],
  ['keys can be evicted', 'checked', { ...fit, evictionPolicy: 'allkeys-lru' }, [/noeviction/]],
  ['a hidden setting fails the check', 'checked', { ...fit, appendFsync: undefined }, [/REDIS_DURABILITY=attested/]],
  ['hidden settings fail the check once', 'checked', hidden, [/CONFIG GET is refused/]],
  [
    'all problems together',
    'checked',
    { appendOnly: 'no', appendFsync: 'no', evictionPolicy: 'volatile-ttl' },
    [/appendonly yes/, /appendfsync/, /noeviction/],
  ],
  ['hidden settings are attested', 'attested', hidden, []],
  ['another durable log is attested', 'attested', { ...fit, appendOnly: 'no' }, []],
  [
    'a Redis that evicts is refused, whatever is attested',
    'attested',
    { ...hidden, evictionPolicy: 'volatile-lru' },
    [/noeviction/],
  ],
])('%s (%s)', (_name, rule, settings, expected) => {
  expect(problemsOf(settings, rule)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
})

/** As ioredis reports an answer that is an error. */
const refused = Object.assign(new Error('ERR unknown command `CONFIG`'), { name: 'ReplyError' })

test('settings are read with CONFIG GET', async () => {
  const values: Readonly<Record<string, string>> = {
    appendonly: 'yes',
    appendfsync: 'always',
    'maxmemory-policy': 'noeviction',
  }
  const settings = await readSettings({
    config: async (_get, name) => [name, values[name]],
    info: async () => 'maxmemory_policy:allkeys-lru\r\n',
  })
  expect(settings).toEqual(fit)
})

test('where CONFIG is refused, INFO still shows the eviction policy', async () => {
  const settings = await readSettings({
    config: () => Promise.reject(refused),
    info: async () => '# Memory\r\nmaxmemory:1\r\nmaxmemory_policy:volatile-lru\r\n',
  })
  expect(settings).toEqual({ ...hidden, evictionPolicy: 'volatile-lru' })
})

test('a Redis without an answer is not taken for one that hides its settings', async () => {
  const lost = () => Promise.reject(new Error('Connection is closed.'))
  await expect(readSettings({ config: lost, info: lost })).rejects.toThrow('closed')
})

async function start(nodeEnv: string, rule: DurabilityRule, ...primaries: DurabilitySettings[]) {
  const lines: string[] = []
  const log = { warn: (message: string) => void lines.push(message) }
  await assertDurable({ durabilitySettings: () => Promise.resolve(primaries) }, { nodeEnv, rule, log })
  return lines
}

test('production refuses to start and names every problem of every primary once', async () => {
  const starting = start('production', 'checked', fit, { ...fit, appendOnly: 'no' }, { ...hidden, appendOnly: 'no' })
  await expect(starting).rejects.toThrow(/^this Redis would lose data: [^;]*appendonly yes[^;]*; [^;]*; [^;]*attested$/)
})

test.each(['development', 'test'])('%s starts on any Redis', async (nodeEnv) => {
  expect(await start(nodeEnv, 'checked', { ...fit, appendOnly: 'no' })).toEqual([])
})

test('production starts on a Redis that keeps its data', async () => {
  expect(await start('production', 'checked', fit, fit)).toEqual([])
})

test('production warns about a Redis that can lose the last second', async () => {
  expect(await start('production', 'checked', { ...fit, appendFsync: 'everysec' })).toEqual([
    expect.stringContaining('last second'),
  ])
})

test('production logs what was promised', async () => {
  expect(await start('production', 'attested', hidden)).toEqual([expect.stringContaining('REDIS_DURABILITY=attested')])
})

test.each([
  ['used_memory:1024\r\nused_memory_human:1K\r\nmaxmemory:4096\r\n', { usedBytes: 1024, maxBytes: 4096 }],
  ['# Memory\r\nused_memory:1024\r\nmaxmemory:0\r\nmaxmemory_human:0B\r\n', { usedBytes: 1024, maxBytes: 0 }],
  ['used_memory:1024\r\n', undefined],
  ['', undefined],
])('INFO memory %j is parsed to %j', (info, expected) => {
  expect(parseMemory(info)).toEqual(expected)
})

test('the fullest of several nodes is chosen, but a node without a limit comes first', () => {
  const [half, most] = [
    { usedBytes: 500, maxBytes: 1_000 },
    { usedBytes: 900, maxBytes: 1_000 },
  ]
  expect(fullestOf([half, most])).toEqual(most)
  expect(fullestOf([half, { usedBytes: 1, maxBytes: 0 }, most])).toEqual({ usedBytes: 1, maxBytes: 0 })
  expect(fullestOf([])).toBeUndefined()
})
