import { randomBytes } from 'node:crypto'
import { canStartRedis, eventually, type RedisServers, redisServers, silentLog } from '@switchhook/testkit'
import { execute, openRedis, type Redis } from './redis.ts'

/** Redis handles other connections after this many bytes, and waits this long for each key, so loading takes two seconds. */
const SLOWLY = ['--loading-process-events-interval-bytes', '1024', '--key-load-delay', '50000']
const KEYS = 40

/** A server of its own, because it serves nobody while it loads. */
const describeWithOwnRedis = canStartRedis() ? describe : describe.skip

describeWithOwnRedis('a Redis that loads its data again, as a primary does that a failover has demoted', () => {
  let servers: RedisServers
  let port: number
  const opened: Redis[] = []
  async function open(): Promise<Redis> {
    const redis = await openRedis({ url: `redis://127.0.0.1:${port}`, log: silentLog, name: 'test' })
    opened.push(redis)
    return redis
  }
  const get = (redis: Redis) => redis[execute]((commands) => commands.get('sh:test:0'))

  beforeAll(async () => {
    servers = redisServers()
    ;({ port } = await servers.start('--enable-debug-command', 'local', ...SLOWLY))
  })
  afterAll(async () => {
    await Promise.all(opened.map((redis) => redis.close()))
    await servers.close()
  })

  test('has certainly not executed what it refuses, is awaited by new connections, and serves afterwards', async () => {
    const redis = await open()
    // Random, because Redis compresses what repeats.
    const value = randomBytes(1_024).toString('hex')
    await Promise.all(
      Array.from({ length: KEYS }, (_, n) => redis[execute]((commands) => commands.set(`sh:test:${n}`, value))),
    )
    const loading = servers.cli('-p', String(port), 'debug', 'reload')
    let isLoaded = false
    void loading.then(() => (isLoaded = true))
    await eventually(
      async () => {
        const failed = await get(redis).catch((error: unknown) => error)
        expect(failed).toMatchObject({ name: 'Unavailable', fate: 'not-executed' })
        expect(String((failed as Error).cause)).toContain('LOADING')
      },
      { timeoutMs: 5_000 },
    )
    const later = await open()
    expect(isLoaded).toBe(true)
    await expect(loading).resolves.toBe('OK\n')
    expect([await get(redis), await get(later)]).toEqual([value, value])
  })
})
