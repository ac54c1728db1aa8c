import { silentLog, type TestRedis, testRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'

interface Opened {
  readonly server: TestRedis
  readonly redis: Redis
}

/** Gives the tests of a file a Redis. Call it at the top of the file; `opened` is called before the first test. */
export function useRedis(opened: (world: Opened) => void): void {
  let world: Opened | undefined
  beforeAll(async () => {
    const server = await testRedis()
    world = { server, redis: await openRedis({ url: server.redisUrl, log: silentLog, name: 'test' }) }
    opened(world)
  })
  afterAll(async () => {
    await world?.redis.close()
    await world?.server.close()
  })
}
