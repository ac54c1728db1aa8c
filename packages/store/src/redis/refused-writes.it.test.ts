import { newEventId } from '@switchhook/contracts'
import { canStartRedis, type RedisServers, redisServers, silentLog } from '@switchhook/testkit'
import { createOutbox } from '../state/outbox.ts'
import { createStateStore } from '../state/state-store.ts'
import { execute, openRedis, type Redis } from './redis.ts'

/** A separate server, because the memory limit applies to all its clients. */
const describeWithOwnRedis = canStartRedis() ? describe : describe.skip

describeWithOwnRedis('a Redis over its memory limit', () => {
  let servers: RedisServers
  let redis: Redis

  beforeAll(async () => {
    servers = redisServers()
    const { port } = await servers.start()
    redis = await openRedis({ url: `redis://127.0.0.1:${port}`, log: silentLog, name: 'test' })
  })
  afterAll(async () => {
    await redis.close()
    await servers.close()
  })
  beforeEach(() => limit(0))
  afterEach(() => limit(0))

  const limit = async (bytes: number): Promise<void> => {
    await redis[execute]((commands) => commands.config('SET', 'maxmemory', bytes))
  }

  test('refuses a commit entirely, and the error says that nothing was written', async () => {
    const store = createStateStore(redis)
    await store.commit('acme', {
      records: [{ key: 'call:1', expectedVersion: 0, value: 'before' }],
      events: [],
      timers: [],
    })
    await limit(1)
    const commit = store.commit('acme', {
      records: [
        { key: 'call:1', expectedVersion: 1, value: 'after' },
        { key: 'agent:a', expectedVersion: 0, value: 'after' },
      ],
      events: [{ eventId: newEventId(), eventType: 'call.status', occurredAt: '', tenant: 'acme', data: {} }],
      timers: [{ id: 'ring', dueInMs: 0, payload: null }],
    })
    await expect(commit).rejects.toMatchObject({ name: 'Unavailable', fate: 'not-executed' })
    await limit(0)
    expect(await store.read('acme', ['call:1', 'agent:a'])).toEqual([{ version: 1, value: 'before' }, { version: 0 }])
    expect(await createOutbox(redis).depth()).toBe(0)
  })

  test('does not refuse a script that has begun to write', async () => {
    await limit(1)
    // DEL needs no memory, and counts as the script's first write.
    const script = "redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[1], ARGV[1])"
    expect(await redis[execute]((commands) => commands.eval(script, 1, 'sh:test', 'written'))).toBe('OK')
  })
})
