import { assertDurableInProduction, type DurabilitySettings, fullestOf, parseMemory, problemsOf } from './server.ts'

const fit: DurabilitySettings = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' }

test.each<[string, DurabilitySettings, RegExp[]]>([
  ['every write is synced at once', fit, []],
  ['syncing every second is allowed', { ...fit, appendfsync: 'everysec' }, []],
  ['settings that Redis does not reveal are no problem', {}, []],
  ['no append-only file', { ...fit, appendonly: 'no' }, [/appendonly yes/]],
  ['the file is not synced', { ...fit, appendfsync: 'no' }, [/appendfsync always/]],
  ['keys can be evicted', { ...fit, 'maxmemory-policy': 'allkeys-lru' }, [/noeviction/]],
  [
    'all problems at once',
    { appendonly: 'no', appendfsync: 'no', 'maxmemory-policy': 'volatile-ttl' },
    [/appendonly yes/, /appendfsync/, /noeviction/],
  ],
])('%s', (_name, settings, expected) => {
  expect(problemsOf(settings)).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
})

describe('with a Redis that would lose data', () => {
  const redis = { durabilityProblems: () => Promise.resolve(['it forgets', 'it evicts']) }

  test('production refuses to start and names every problem', async () => {
    await expect(assertDurableInProduction(redis, 'production')).rejects.toThrow(/it forgets; it evicts/)
  })

  test.each(['development', 'test'])('%s starts', async (nodeEnv) => {
    await expect(assertDurableInProduction(redis, nodeEnv)).resolves.toBeUndefined()
  })
})

test('production starts with a Redis that loses no data', async () => {
  const redis = { durabilityProblems: () => Promise.resolve([]) }
  await expect(assertDurableInProduction(redis, 'production')).resolves.toBeUndefined()
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
