import { newSubscriptionId } from '@switchhook/contracts'
import { useRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'
import { createPullerStore } from './puller-store.ts'

const T_MS = Date.parse('2026-11-20T12:00:00Z')
const MINUTE_MS = 60_000

let redis: Redis
useRedis(openRedis, (world) => ({ redis } = world))

test('a client is there since its first request, and until a minute after its last', async () => {
  const [pullers, id] = [createPullerStore(redis), newSubscriptionId()]
  expect(await pullers.find(id, T_MS)).toEqual({ lastAtMs: null, pullers: [] })
  for (const afterMs of [0, 30_000, 80_000]) await pullers.note(id, 'crm', T_MS + afterMs)
  await pullers.note(id, 'bridge', T_MS + 81_000)
  const bridge = { clientId: 'bridge', sinceMs: T_MS + 81_000, lastAtMs: T_MS + 81_000 }
  expect(await pullers.find(id, T_MS + 90_000)).toEqual({
    lastAtMs: T_MS + 81_000,
    pullers: [bridge, { clientId: 'crm', sinceMs: T_MS, lastAtMs: T_MS + 80_000 }],
  })
  expect((await pullers.find(id, T_MS + 80_000 + MINUTE_MS)).pullers).toEqual([bridge])
  // When the last one was there stays known.
  expect(await pullers.find(id, T_MS + 10 * MINUTE_MS)).toEqual({ lastAtMs: T_MS + 81_000, pullers: [] })
  // After a pause, a client is new.
  await pullers.note(id, 'crm', T_MS + 10 * MINUTE_MS)
  expect((await pullers.find(id, T_MS + 10 * MINUTE_MS)).pullers).toMatchObject([{ sinceMs: T_MS + 10 * MINUTE_MS }])
})

test('a busy client is written every five seconds, and each subscription for itself', async () => {
  const [pullers, one, two] = [createPullerStore(redis), newSubscriptionId(), newSubscriptionId()]
  for (let ms = 0; ms <= 7_000; ms += 100) await pullers.note(one, 'crm', T_MS + ms)
  await pullers.note(two, 'crm', T_MS + 7_000)
  const lastAtMs = async (id: typeof one): Promise<number | null> => (await pullers.find(id, T_MS + 7_000)).lastAtMs
  expect([await lastAtMs(one), await lastAtMs(two)]).toEqual([T_MS + 5_000, T_MS + 7_000])
})

test('of many clients, the latest twenty are known', async () => {
  const [pullers, id] = [createPullerStore(redis), newSubscriptionId()]
  for (let n = 0; n < 25; n++) await pullers.note(id, `client-${n}`, T_MS + n)
  const { pullers: found } = await pullers.find(id, T_MS + 1_000)
  expect(found.map(({ clientId }) => clientId)).toEqual(Array.from({ length: 20 }, (_, i) => `client-${24 - i}`))
})
