import { eventually } from '@switchhook/testkit'
import { keptKey, refusedKey } from '../keys.ts'
import { execute } from '../redis/redis.ts'
import { cellEndMs, createKeptCounts } from './kept-counts.ts'
import { HOUR_MS, type TestDeliveries, useDeliveries } from './testing/deliveries.ts'

let fixture: TestDeliveries
useDeliveries((opened) => (fixture = opened))

const counts = () => createKeptCounts(fixture.redis, HOUR_MS)
const cells = (...entries: readonly (readonly [endsInMs: number, count: number])[]) =>
  new Map(entries.map(([endsInMs, count]) => [Date.now() + endsInMs, count]))

test('what all workers have counted is added up, by tenant and kind, until its cell has passed', async () => {
  const [one, other] = [counts(), counts()]
  expect(await one.add('acme', 'settled', cells([HOUR_MS, 5]), false)).toBe(5)
  expect(await other.add('acme', 'waiting', cells([HOUR_MS, 3]), false)).toBe(3)
  expect(await other.add('globex', 'settled', cells(), false)).toBe(0)
  expect(await other.add('acme', 'settled', cells([2 * HOUR_MS, 1], [1_000, 2]), false)).toBe(8)
  await eventually(async () => expect(await one.add('acme', 'settled', cells(), false)).toBe(6))
})

test('the counts last as long as their last cell; those of a tenant without any leave no key', async () => {
  await counts().add('acme', 'settled', cells([2 * HOUR_MS, 1], [HOUR_MS, 1]), false)
  const ttl = await fixture.ttlOf(keptKey('acme', 'settled'))
  expect(ttl).toBeGreaterThan(2 * HOUR_MS - 60_000)
  expect(ttl).toBeLessThanOrEqual(2 * HOUR_MS)
  await counts().add('globex', 'settled', cells(), false)
  expect(await fixture.ttlOf(keptKey('globex', 'settled'))).toBe(-2)
})

test('when something was refused last is remembered', async () => {
  await counts().add('acme', 'settled', cells([HOUR_MS, 1]), false)
  expect(await fixture.ttlOf(refusedKey('acme', 'settled'))).toBe(-2)
  await counts().add('acme', 'settled', cells(), true)
  expect(await fixture.ttlOf(refusedKey('acme', 'settled'))).toBeGreaterThan(HOUR_MS - 60_000)
  const refusedMs = Number(await fixture.redis[execute]((commands) => commands.get(refusedKey('acme', 'settled'))))
  expect(Math.abs(refusedMs - Date.now())).toBeLessThan(60_000)
})

test.each([
  ['10 s', 10_000],
  ['an hour', HOUR_MS],
  ['30 days', 720 * HOUR_MS],
])('what is kept for %s counts until it ends, and little longer, in few cells', (_, keptMs) => {
  const ends = new Set<number>()
  const nowMs = Date.UTC(2026, 10, 20, 17, 6, 1)
  for (let atMs = nowMs; atMs < nowMs + keptMs; atMs += Math.ceil(keptMs / 1_000)) {
    const endMs = cellEndMs(atMs, keptMs)
    expect(endMs).toBeGreaterThanOrEqual(atMs + keptMs)
    expect(endMs).toBeLessThan(atMs + keptMs + Math.max(300_000, keptMs / 60))
    ends.add(endMs)
  }
  expect(ends.size).toBeLessThanOrEqual(66)
})
