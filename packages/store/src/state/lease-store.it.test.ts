import { isNotExecuted } from '@switchhook/contracts'
import { eventually, silentLog, startTcpProxy, type TestRedis, useRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'
import { createFollowedRecords } from './followed-records.ts'
import { createLeaseStore } from './lease-store.ts'
import { createStateStore } from './state-store.ts'

let server: TestRedis
let redis: Redis

useRedis(openRedis, (opened) => ({ server, redis } = opened))
beforeEach(() => server.flush())

describe('a lease', () => {
  test('belongs to one process, which can prolong and release it', async () => {
    const leases = createLeaseStore(redis)
    expect(await leases.take('link', 'one', 60_000)).toBe(true)
    expect(await leases.take('link', 'two', 60_000)).toBe(false)
    expect(await leases.take('link', 'one', 60_000)).toBe(true)
    expect(await leases.take('other', 'two', 60_000)).toBe(true)
    await leases.release('link', 'two')
    expect(await leases.take('link', 'two', 60_000)).toBe(false)
    await leases.release('link', 'one')
    expect(await leases.take('link', 'two', 60_000)).toBe(true)
  })

  test('expires when it is not renewed', async () => {
    const leases = createLeaseStore(redis)
    await leases.take('link', 'one', 50)
    await eventually(async () => expect(await leases.take('link', 'two', 60_000)).toBe(true))
  })
})

describe('followed records', () => {
  const record = (key: string) => ({ key, expectedVersion: 0, value: 1 })

  test('are listed over all tenants until they are removed', async () => {
    const followed = createFollowedRecords(redis)
    const all = [
      { tenant: 'acme', key: 'call:1' },
      { tenant: null, key: 'call:1' },
      { tenant: 'a"b', key: 'call:{2}' },
    ]
    for (const { tenant, key } of all) {
      await followed.add(tenant, key)
      await createStateStore(redis).commit(tenant, { records: [record(key)], events: [], timers: [] })
    }
    expect(await followed.all()).toEqual(expect.arrayContaining(all))
    await followed.remove('acme', 'call:1')
    expect(await followed.all()).toHaveLength(2)
  })

  test('a name is kept until its record can be committed, and forgotten when the record has expired', async () => {
    await createFollowedRecords(redis).add('acme', 'call:1')
    expect(await createFollowedRecords(redis).all()).toHaveLength(1)
    const inTenMinutes = createFollowedRecords(redis, () => Date.now() + 600_000)
    expect(await inTenMinutes.all()).toEqual([])
    expect(await createFollowedRecords(redis).all()).toEqual([])
  })

  test('a name whose reply is lost counts as not executed', async () => {
    const proxy = await startTcpProxy(server.redisUrl)
    const through = await openRedis({ url: proxy.url, log: silentLog, name: 'test' })
    try {
      proxy.cutWhen((chunk, direction) => direction === 'toClient' && chunk.length > 0)
      const failed = await createFollowedRecords(through)
        .add('acme', 'call:1')
        .catch((error: unknown) => error)
      expect(isNotExecuted(failed)).toBe(true)
    } finally {
      await through.close()
      await proxy.close()
    }
  })
})
