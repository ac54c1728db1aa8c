import type { Tenant } from '@switchhook/contracts'
import { type TestRedis, useRedis } from '@switchhook/testkit'
import { auditKey } from '../keys.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { type AuditList, type AuditStore, createAuditStore } from './audit-store.ts'

const DAY_MS = 86_400_000
const MANY = { entries: { webhooks: 10_000, commands: 10_000 }, retentionMs: 90 * DAY_MS }
const BOTH: readonly AuditList[] = ['webhooks', 'commands']

let server: TestRedis
let redis: Redis
let store: AuditStore

useRedis(openRedis, (opened) => ({ server, redis } = opened))
beforeEach(async () => {
  await server.flush()
  store = createAuditStore(redis, MANY)
})

const appendAll = async (count: number, tenant: Tenant = 'acme', action = 'a', from = store): Promise<void> => {
  for (let n = 1; n <= count; n++) await from.append(tenant, 'webhooks', [{ action, entry: { n } }])
}

const numbers = async (
  query: Partial<Parameters<AuditStore['page']>[1]> = {},
  tenant: Tenant = 'acme',
  from = store,
) => {
  const { items, nextCursor } = await from.page(tenant, { lists: BOTH, limit: 100, ...query })
  return { found: items.map(({ entry }) => (entry as { n: number }).n), nextCursor }
}

/** Appends an entry with an earlier time. */
const appendAt = (atMs: number, n: number): Promise<unknown> =>
  redis[execute]((commands) =>
    commands.xadd(auditKey('acme'), `${atMs}-0`, 'action', 'a', 'entry', JSON.stringify({ n })),
  )

test('entries are listed newest first with their time, per tenant', async () => {
  const before = Date.now()
  await appendAll(3)
  await appendAll(1, null)
  expect(await numbers()).toEqual({ found: [3, 2, 1], nextCursor: null })
  expect((await numbers({}, null)).found).toEqual([1])
  expect((await numbers({}, 'globex')).found).toEqual([])
  const { items } = await store.page('acme', { lists: BOTH, limit: 1 })
  expect(items[0]?.id).toMatch(/^\d+-\d+$/)
  expect(Math.abs((items[0]?.atMs ?? 0) - before)).toBeLessThan(5_000)
})

test('entries that are appended meanwhile do not shift the pages', async () => {
  await appendAll(5)
  const first = await numbers({ limit: 2 })
  expect(first.found).toEqual([5, 4])
  await appendAll(1)
  const second = await numbers({ limit: 2, cursor: first.nextCursor ?? '' })
  expect(second.found).toEqual([3, 2])
  expect(await numbers({ limit: 2, cursor: second.nextCursor ?? '' })).toEqual({ found: [1], nextCursor: null })
})

test('entries of one action are found among many others', async () => {
  await store.append('acme', 'webhooks', [{ action: 'wanted', entry: { n: 1 } }])
  await appendAll(600, 'acme', 'other')
  await store.append('acme', 'webhooks', [{ action: 'wanted', entry: { n: 2 } }])
  const first = await numbers({ action: 'wanted', limit: 1 })
  expect(first.found).toEqual([2])
  expect(await numbers({ action: 'wanted', limit: 1, cursor: first.nextCursor ?? '' })).toEqual({
    found: [1],
    nextCursor: null,
  })
  expect((await numbers({ action: 'unheard-of' })).found).toEqual([])
})

test('a page of one action scans about a thousand entries, so it may be empty without being the last', async () => {
  await store.append('acme', 'webhooks', [{ action: 'wanted', entry: { n: 1 } }])
  await appendAll(1_500, 'acme', 'other')
  await store.append('acme', 'webhooks', [{ action: 'wanted', entry: { n: 2 } }])
  const first = await numbers({ action: 'wanted', limit: 20 })
  expect(first).toEqual({ found: [2], nextCursor: expect.any(String) })
  const second = await numbers({ action: 'wanted', limit: 20, cursor: first.nextCursor ?? '' })
  expect(second).toEqual({ found: [1], nextCursor: null })
  expect(await numbers({ action: 'unheard-of' })).toEqual({ found: [], nextCursor: expect.any(String) })
})

test('a time range includes its start and excludes its end', async () => {
  const now = Date.now()
  for (const n of [1, 2, 3]) await appendAt(now - 1_000 + n, n)
  expect((await numbers({ fromMs: now - 998 })).found).toEqual([3, 2])
  expect((await numbers({ toMs: now - 998 })).found).toEqual([1])
  expect((await numbers({ fromMs: now - 998, toMs: now - 997 })).found).toEqual([2])
  expect((await numbers({ fromMs: now - 997, toMs: now - 998 })).found).toEqual([])
  expect((await numbers({ fromMs: -5, toMs: -1 })).found).toEqual([])
})

test('the log keeps no more entries than its limit', async () => {
  const small = createAuditStore(redis, { ...MANY, entries: { webhooks: 3, commands: 2 } })
  await appendAll(5, 'acme', 'a', small)
  expect((await numbers({}, 'acme', small)).found).toEqual([5, 4, 3])
})

test('commands do not push out changes of webhooks, and each list is read alone or with the other', async () => {
  const small = createAuditStore(redis, { ...MANY, entries: { webhooks: 3, commands: 2 } })
  await appendAll(2, 'acme', 'a', small)
  const dialled = [10, 11, 12, 13].map((n) => ({ action: 'b', entry: { n } }))
  await small.append('acme', 'commands', dialled)
  expect((await numbers({}, 'acme', small)).found).toEqual([13, 12, 2, 1])
  expect((await numbers({ lists: ['webhooks'] }, 'acme', small)).found).toEqual([2, 1])
  expect((await numbers({ lists: ['commands'] }, 'acme', small)).found).toEqual([13, 12])
  expect(await numbers({ lists: [] }, 'acme', small)).toEqual({ found: [], nextCursor: null })
})

test('pages hold each entry of both lists once, also of the same millisecond', async () => {
  const entries = (first: number) => Array.from({ length: 20 }, (_, n) => ({ action: 'a', entry: { n: first + n } }))
  await Promise.all(
    [0, 100].flatMap((first) => [
      store.append('acme', 'webhooks', entries(first)),
      store.append('acme', 'commands', entries(first + 50)),
    ]),
  )
  const found: number[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await numbers({ limit: 3, ...(cursor !== undefined && { cursor }) })
    found.push(...page.found)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  const all = [0, 50, 100, 150].flatMap((first) => entries(first).map(({ entry: { n } }) => n))
  expect(found.toSorted((a, b) => a - b)).toEqual(all)
})

test('an entry that is appended after the clock was set back is still the newest', async () => {
  await appendAt(Date.now() + 60_000, 1)
  await appendAll(1, 'acme', 'a')
  await store.append('acme', 'webhooks', [{ action: 'a', entry: { n: 2 } }])
  expect((await numbers()).found).toEqual([2, 1, 1])
})

test('entries older than the retention are not listed, and the next append removes them', async () => {
  const length = (): Promise<number> => redis[execute]((commands) => commands.xlen(auditKey('acme')))
  await appendAt(Date.now() - 91 * DAY_MS, 1)
  await appendAt(Date.now() - 89 * DAY_MS, 2)
  expect((await numbers()).found).toEqual([2])
  expect(await length()).toBe(2)
  await store.append('acme', 'webhooks', [{ action: 'a', entry: { n: 3 } }])
  expect((await numbers()).found).toEqual([3, 2])
  expect(await length()).toBe(2)
  const leftMs = await redis[execute]((commands) => commands.pttl(auditKey('acme')))
  expect(leftMs).toBeGreaterThan(89 * DAY_MS)
})

test.each(['', 'x', Buffer.from('1').toString('base64url'), Buffer.from('+').toString('base64url')])(
  'the cursor %j is rejected',
  async (cursor) => {
    await expect(store.page('acme', { lists: BOTH, limit: 1, cursor })).rejects.toMatchObject({
      code: 'invalid-request',
    })
  },
)
