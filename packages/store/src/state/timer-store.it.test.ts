import type { Tenant } from '@switchhook/contracts'
import { eventually, type TestRedis, useRedis } from '@switchhook/testkit'
import { partitionOf, timerMember, timersClockKey, timersKey } from '../keys.ts'
import type { Commands } from '../redis/commands.ts'
import { execute, openRedis, type Redis } from '../redis/redis.ts'
import { createStateStore } from './state-store.ts'
import { createTimerStore, type DueTimer, type TimerStore } from './timer-store.ts'

let server: TestRedis
let redis: Redis
let other: Redis
let timers: TimerStore

useRedis(openRedis, (opened) => {
  ;({ server, redis, other } = opened)
  timers = createTimerStore(redis)
})
beforeEach(() => server.flush())

interface Wish {
  readonly id: string
  readonly dueInMs: number
  readonly payload?: unknown
}

async function set(tenant: Tenant, ...wishes: Wish[]): Promise<void> {
  const wanted = wishes.map((wish) => ({ payload: null, ...wish }))
  await createStateStore(redis).commit(tenant, { records: [], events: [], timers: wanted })
}

const LEASE_MS = 60_000
const names = (claimed: readonly DueTimer[]): string[] => claimed.map(({ id, tenant }) => `${tenant} ${id}`).toSorted()

test('a due timer is claimed with its tenant and payload, never before it is due', async () => {
  const setAt = Date.now()
  await set('acme', { id: 'ring', dueInMs: 80, payload: { callId: 'c', list: [] } }, { id: 'later', dueInMs: 60_000 })
  const [claimed, ...rest] = await eventually(async () => {
    const due = await timers.claimDue(10, LEASE_MS)
    expect(due).not.toEqual([])
    return due
  })
  expect(claimed).toMatchObject({ id: 'ring', tenant: 'acme', payload: { callId: 'c', list: [] } })
  expect(rest).toEqual([])
  expect(Date.now() - setAt).toBeGreaterThanOrEqual(79)
})

test('overdue timers of all tenants are claimed, never more than requested', async () => {
  const ids = Array.from({ length: 10 }, (_, i) => ({ id: `t${i}`, dueInMs: 0 }))
  for (const tenant of ['acme', 'globex', null]) await set(tenant, ...ids)
  const all: DueTimer[] = []
  for (let due = await timers.claimDue(4, LEASE_MS); due.length > 0; due = await timers.claimDue(4, LEASE_MS)) {
    expect(due.length).toBeLessThanOrEqual(4)
    all.push(...due)
  }
  expect(names(all)).toEqual(
    names(all.filter((timer, i) => all.findIndex(({ stored }) => stored === timer.stored) === i)),
  )
  expect(all).toHaveLength(30)
})

test('two processes that claim at the same time get different timers', async () => {
  await set('acme', ...Array.from({ length: 40 }, (_, i) => ({ id: `t${i}`, dueInMs: 0 })))
  const claims = await Promise.all([timers.claimDue(30, LEASE_MS), createTimerStore(other).claimDue(30, LEASE_MS)])
  expect(new Set(names(claims.flat())).size).toBe(40)
  expect(claims.flat()).toHaveLength(40)
})

test('a timer whose process died can be claimed again after the lease, not before', async () => {
  await set('acme', { id: 'ring', dueInMs: 0 })
  const claimedAt = Date.now()
  expect(await createTimerStore(other).claimDue(10, 100)).toHaveLength(1)
  expect(await timers.claimDue(10, LEASE_MS)).toEqual([])
  await eventually(async () => expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme ring']))
  expect(Date.now() - claimedAt).toBeGreaterThanOrEqual(99)
})

test('a timer that is done is not claimed again', async () => {
  await set('acme', { id: 'ring', dueInMs: 0 })
  await set(null, { id: 'ring', dueInMs: 0 })
  const claimed = await timers.claimDue(10, 1)
  expect(names(claimed)).toEqual(['acme ring', 'null ring'])
  await timers.done(claimed)
  await set('acme', { id: 'marker', dueInMs: 20 })
  await eventually(async () => expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme marker']))
})

test('a timer that is set again while it is being handled is kept', async () => {
  await set('acme', { id: 'wrap-up', dueInMs: 0 })
  const old = await timers.claimDue(10, LEASE_MS)
  await set('acme', { id: 'wrap-up', dueInMs: 0 })
  await timers.done(old)
  expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme wrap-up'])
})

test('a claimed timer whose lease is extended is not claimed again until then, one that was set again meanwhile is', async () => {
  await set('acme', { id: 'check', dueInMs: 0 }, { id: 'wrap-up', dueInMs: 0 }, { id: 'done', dueInMs: 0 })
  const claimed = await timers.claimDue(10, 100)
  await timers.done(claimed.filter(({ id }) => id === 'done'))
  await set('acme', { id: 'wrap-up', dueInMs: 150 })
  await timers.extend(claimed, LEASE_MS)
  await eventually(async () => expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme wrap-up']))
  expect(await timers.claimDue(10, LEASE_MS)).toEqual([])
  await timers.extend(claimed, 1)
  await eventually(async () => expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme check']))
})

test('the timers of owners that are left are passed over and stay overdue', async () => {
  await set('acme', ...Array.from({ length: 100 }, (_, n) => ({ id: `pbx:${n}`, dueInMs: 0 })))
  await set(null, { id: 'pbx:null', dueInMs: 0 })
  for (const tenant of ['acme', null]) await set(tenant, { id: 'probe:pbx:1', dueInMs: 1 }, { id: 'pbx', dueInMs: 1 })
  const others = ['acme pbx', 'acme probe:pbx:1', 'null pbx', 'null probe:pbx:1']
  const claimed: DueTimer[] = []
  await eventually(async () => {
    claimed.push(...(await timers.claimDue(10, LEASE_MS, ['pbx', 'agent'])))
    expect(names(claimed)).toEqual(others)
  })
  expect(await timers.claimDue(10, LEASE_MS, ['pbx'])).toEqual([])
  expect(await timers.overdueMs()).toBeGreaterThan(0)
  expect(await timers.claimDue(200, LEASE_MS)).toHaveLength(101)
})

test('setting a timer again replaces its due time and payload', async () => {
  await set('acme', { id: 'revert', dueInMs: 0, payload: 'old' })
  await set('acme', { id: 'revert', dueInMs: 60_000, payload: 'later' })
  expect(await timers.claimDue(10, LEASE_MS)).toEqual([])
  await set('acme', { id: 'revert', dueInMs: 0, payload: 'new' })
  expect(await timers.claimDue(10, LEASE_MS)).toMatchObject([{ payload: 'new' }])
})

test('timers of different tenants with the same id are independent', async () => {
  for (const tenant of ['acme', 'globex', null]) await set(tenant, { id: 'ring', dueInMs: 0 })
  expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme ring', 'globex ring', 'null ring'])
})

test('a timer is overdue from its due time until it is claimed', async () => {
  expect(await timers.overdueMs()).toBe(0)
  await set('acme', { id: 'later', dueInMs: 60_000 })
  expect(await timers.overdueMs()).toBe(0)
  await set('globex', { id: 'now', dueInMs: 1 })
  await eventually(async () => expect(await timers.overdueMs()).toBeGreaterThan(0))
  expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['globex now'])
  expect(await timers.overdueMs()).toBe(0)
})

describe('after a failover to a Redis whose clock is 20 s behind', () => {
  const BEHIND_MS = 20_000
  const part = partitionOf('acme')
  const command = <T>(make: (commands: Commands) => Promise<T>): Promise<T> => redis[execute](make)

  /** Moves the stored times forward, which is the same for the scripts as a clock that is behind. */
  async function failOver(): Promise<void> {
    for (const timer of await command((commands) => commands.zrange(timersKey(part), '0', '-1'))) {
      await command((commands) => commands.zincrby(timersKey(part), BEHIND_MS, timer))
    }
    await command((commands) => commands.incrby(timersClockKey(part), BEHIND_MS))
  }

  async function dueInMs(id: string): Promise<number> {
    const [nowMs, score] = await Promise.all([
      command((commands) => commands.nowMs()),
      command((commands) => commands.zscore(timersKey(part), timerMember('acme', id))),
    ])
    return Number(score) - nowMs
  }

  test('a timer falls due in its time', async () => {
    await set('acme', { id: 'soon', dueInMs: 1_000 }, { id: 'later', dueInMs: 10_000 })
    await failOver()
    await eventually(async () => expect(names(await timers.claimDue(10, LEASE_MS))).toEqual(['acme soon']), {
      timeoutMs: 5_000,
    })
    expect(await dueInMs('later')).toBeLessThanOrEqual(10_000)
  })

  test('a timer that is set before the others are looked at falls due no earlier', async () => {
    await set('acme', { id: 'later', dueInMs: 10_000 })
    await failOver()
    await set('acme', { id: 'new', dueInMs: 30_000 })
    expect(await timers.claimDue(10, LEASE_MS)).toEqual([])
    expect(await dueInMs('new')).toBeGreaterThan(15_000)
    expect(await dueInMs('later')).toBeLessThanOrEqual(10_000)
  })
})
