import { eventually, useRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'
import { createUptimeStore } from './uptime-store.ts'

const MAX_GAP_MS = 400

let redis: Redis
useRedis(openRedis, (world) => ({ redis } = world))

test('notes prolong the present period, and a gap between them begins another one', async () => {
  const uptime = createUptimeStore(redis, MAX_GAP_MS)
  expect((await uptime.read()).periods).toEqual([])
  await Promise.all([uptime.note(), uptime.note()])
  const first = await uptime.read()
  const fromMs = first.periods[0]?.fromMs ?? 0
  expect(first.periods).toEqual([{ fromMs, untilMs: first.nowMs }])
  // Without a note, the period has ended.
  await eventually(async () => {
    const { nowMs, periods } = await uptime.read()
    expect(periods[0]?.untilMs).toBeLessThan(nowMs - MAX_GAP_MS)
  })
  const { periods: ended } = await uptime.read()
  await uptime.note()
  const { periods, nowMs } = await uptime.read()
  expect(periods).toEqual([...ended, { fromMs: expect.any(Number), untilMs: nowMs }])
  await uptime.note()
  expect((await uptime.read()).periods).toHaveLength(2)
})
