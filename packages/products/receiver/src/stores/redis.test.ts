import { redisStore } from './redis.ts'

/** Redis behind a client that sends each SET twice, as after a connection that was lost with the first answer. */
function repeating() {
  const values = new Map<string, string>()
  const set = (key: string, value: string) => (values.has(key) ? null : (values.set(key, value), 'OK'))
  return {
    values,
    call: async (command: string, ...[key = '', value = '']: string[]) => {
      if (command === 'GET') return values.get(key) ?? null
      if (command !== 'SET') return null
      set(key, value)
      return set(key, value)
    },
  }
}

const position = { occurredAt: '2026-11-20T12:00:00.000Z', sequence: 1, ended: false }

test('a lease whose answer was lost is not taken for that of another process', async () => {
  const store = redisStore(repeating())
  const advances: unknown[] = []
  const work = async (tx: Parameters<typeof store.advance>[0]) => {
    advances.push(await store.advance(tx, 'leg', position))
  }
  expect(await store.once('a', work)).toBe('done')
  expect(advances).toEqual([{ newer: true, missed: 0 }])
})

test.each([
  ['another lease', 'busy'],
  ['done', 'already'],
])('a delivery with the value "%s" is %s', async (value, state) => {
  const redis = repeating()
  redis.values.set('{switchhook-receiver}:delivery:a', value)
  expect(await redisStore(redis).once('a', async () => undefined)).toBe(state)
})
