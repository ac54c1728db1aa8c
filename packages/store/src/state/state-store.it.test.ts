import type { PlatformEvent } from '@switchhook/contracts'
import { anEvent, eventually, type TestRedis, useRedis } from '@switchhook/testkit'
import { openRedis, type Redis } from '../redis/redis.ts'
import { createOutbox } from './outbox.ts'
import { createStateStore, type StateChange, type StateStore } from './state-store.ts'
import { createTimerStore } from './timer-store.ts'

let server: TestRedis
let redis: Redis
let other: Redis
let store: StateStore
let elsewhere: StateStore

useRedis(openRedis, (opened) => {
  ;({ server, redis, other } = opened)
  store = createStateStore(redis)
  elsewhere = createStateStore(other)
})
beforeEach(() => server.flush())

const change = (over: Partial<StateChange>): StateChange => ({ records: [], events: [], timers: [], ...over })
const event = (): PlatformEvent =>
  anEvent({ data: { state: 1, name: 'J\u00fcrgen', nothing: null, list: [], big: 12.5 } })

const ABSENT = { version: 0, value: undefined }

test('a record that was never written has version 0 at the position of its key', async () => {
  await store.commit('acme', change({ records: [{ key: 'call:1', expectedVersion: 0, value: { a: 1 } }] }))
  expect(await store.read('acme', ['call:0', 'call:1', 'call:2'])).toEqual([
    ABSENT,
    { version: 1, value: { a: 1 } },
    ABSENT,
  ])
  expect(await store.read('acme', [])).toEqual([])
})

test.each<[string, unknown]>([
  ['an empty list', []],
  ['an empty object', {}],
  ['null', null],
  ['text with a colon and a line break', '3:a\nb'],
  ['a number that Lua would format differently', 12345678901234],
])('reading %s gives what was written', async (_what, value) => {
  await store.commit('acme', change({ records: [{ key: 'k', expectedVersion: 0, value }] }))
  expect(await store.read('acme', ['k'])).toEqual([{ version: 1, value }])
})

test('each commit raises the version by one', async () => {
  for (const expectedVersion of [0, 1, 2]) {
    const records = [{ key: 'call:1', expectedVersion, value: expectedVersion }]
    expect(await store.commit('acme', change({ records }))).toBe('committed')
  }
  expect(await store.read('acme', ['call:1'])).toEqual([{ version: 3, value: 2 }])
})

test('one record with another version fails the whole commit: no record, event or timer is written', async () => {
  await store.commit('acme', change({ records: [{ key: 'agent:a', expectedVersion: 0, value: 'as it was' }] }))
  const result = await store.commit('acme', {
    records: [
      { key: 'call:1', expectedVersion: 0, value: 'new' },
      { key: 'agent:a', expectedVersion: 2, value: 'new' },
    ],
    events: [event()],
    timers: [{ id: 'ring', dueInMs: 0, payload: null }],
  })
  expect(result).toBe('conflict')
  expect(await store.read('acme', ['call:1', 'agent:a'])).toEqual([ABSENT, { version: 1, value: 'as it was' }])
  expect(await createOutbox(redis).depth()).toBe(0)
  expect(await createTimerStore(redis).claimDue(10, 1_000)).toEqual([])
})

test('exactly one of many commits that expect the same version succeeds, from two processes', async () => {
  const attempts = Array.from({ length: 20 }, (_, i) =>
    (i % 2 ? store : elsewhere).commit('acme', {
      records: [{ key: 'call:1', expectedVersion: 0, value: i }],
      events: [event()],
      timers: [],
    }),
  )
  const results = await Promise.all(attempts)
  expect(results.filter((result) => result === 'committed')).toHaveLength(1)
  expect(await createOutbox(redis).depth()).toBe(1)
})

test('records of different tenants with the same name are independent', async () => {
  const named = (value: string) => change({ records: [{ key: 'agent:a', expectedVersion: 0, value }] })
  for (const tenant of ['acme', 'globex', null]) await store.commit(tenant, named(String(tenant)))
  for (const tenant of ['acme', 'globex', null]) {
    expect(await store.read(tenant, ['agent:a'])).toEqual([{ version: 1, value: String(tenant) }])
  }
})

test('a record with a time to live expires, and a later commit without one keeps the record', async () => {
  const record = (key: string, expectedVersion: number, ttlMs?: number) => ({
    key,
    expectedVersion,
    value: 'ended',
    ...(ttlMs !== undefined && { ttlMs }),
  })
  await store.commit('acme', change({ records: [record('forgotten', 0, 500), record('kept', 0, 500)] }))
  await store.commit('acme', change({ records: [record('kept', 1)] }))
  await eventually(async () => expect(await store.read('acme', ['forgotten'])).toEqual([ABSENT]))
  expect(await store.read('acme', ['kept'])).toEqual([{ version: 2, value: 'ended' }])
  expect(await store.commit('acme', change({ records: [record('forgotten', 0)] }))).toBe('committed')
})

test('the outbox holds the events of a commit unchanged', async () => {
  const events = [event(), { ...event(), tenant: null }]
  await store.commit('acme', change({ events }))
  const claimed = await createOutbox(redis).claim(10)
  expect(claimed.map((entry) => entry.event)).toEqual(events)
})
