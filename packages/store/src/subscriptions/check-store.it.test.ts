import { newSubscriptionId, type Tenant } from '@switchhook/contracts'
import { eventually, type TestRedis, useRedis } from '@switchhook/testkit'
import { checksKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { type CheckStore, createCheckStore } from './check-store.ts'

const BOUNDS = { leaseMs: 60_000, most: 2 }

let server: TestRedis
let redis: Redis
let checks: CheckStore

useRedis(openRedis, (opened) => {
  ;({ server, redis } = opened)
  checks = createCheckStore(redis)
})
beforeEach(() => server.flush())

const anotherOf = (tenant: Tenant, leaseMs = BOUNDS.leaseMs) =>
  checks.begin({ tenant, id: newSubscriptionId() }, { ...BOUNDS, leaseMs })

test('a subscription has one check at a time, until the check ends or its lease is over', async () => {
  const checked = { tenant: 'acme', id: newSubscriptionId() }
  expect(await checks.begin(checked, BOUNDS)).toBe('begun')
  expect(await checks.begin(checked, BOUNDS)).toBe('running')
  await checks.end(checked)
  expect(await checks.begin(checked, { ...BOUNDS, leaseMs: 50 })).toBe('begun')
  await eventually(async () => expect(await checks.begin(checked, BOUNDS)).toBe('begun'))
})

test('a tenant has a limited number of checks at a time, until they end or their leases are over', async () => {
  const first = { tenant: 'acme', id: newSubscriptionId() }
  expect(await checks.begin(first, BOUNDS)).toBe('begun')
  expect(await anotherOf('acme')).toBe('begun')
  expect(await anotherOf('acme')).toBe('too-many')
  expect(await checks.begin(first, BOUNDS)).toBe('running')
  expect(await anotherOf(null)).toBe('begun')
  await checks.end(first)
  expect(await anotherOf('acme', 50)).toBe('begun')
  await eventually(async () => expect(await anotherOf('acme')).toBe('begun'))
})

test('the key of checks that were not ended expires with the longest lease', async () => {
  await anotherOf('acme')
  await anotherOf('acme', 50)
  const leftMs = await redis[execute]((commands) => commands.pttl(checksKey('acme')))
  expect(leftMs).toBeGreaterThan(50_000)
  expect(leftMs).toBeLessThanOrEqual(BOUNDS.leaseMs)
})

test('the result of a check is taken once, by its id', async () => {
  expect(await checks.take('a')).toBeUndefined()
  const plain = { outcome: 'timeout', status: null, durationMs: 3 } as const
  const facts = { deadlineMs: 1, isSigned: false, plain }
  for (const id of ['a', 'b']) await checks.save(id, facts)
  expect(await checks.take('a')).toEqual(facts)
  expect(await checks.take('a')).toBeUndefined()
  expect(await checks.take('b')).toEqual(facts)
})
