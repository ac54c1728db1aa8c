import { randomUUID } from 'node:crypto'
import type { PbxMemory } from '@switchhook/platform'
import { createStateStore, createTimerStore, openRedis, type Redis } from '@switchhook/store'
import { useRedis } from '@switchhook/testkit'
import { createPbxMemory } from './pbx-memory.ts'

let redis: Redis
let memory: PbxMemory
let tenant: string

useRedis(openRedis, (opened) => ({ redis } = opened))
beforeEach(() => {
  tenant = randomUUID()
  memory = createPbxMemory(createStateStore(redis), redis, Date.now)
})

const write = (expectedVersion: number, isListed: boolean) =>
  memory.write(tenant, {
    records: [{ key: 'pbx:1', expectedVersion, value: { step: expectedVersion }, ttlMs: 60_000, isListed }],
    timers: [{ id: 'pbx:1:check', dueInMs: 0, payload: null }],
  })
const listed = async () => (await memory.list()).filter((one) => one.tenant === tenant)

test('a call is listed from its first step to its last one', async () => {
  expect(await memory.read(tenant, ['pbx:1'])).toEqual([{ version: 0, value: undefined }])
  expect(await write(0, true)).toBe('committed')
  expect(await write(1, true)).toBe('committed')
  expect(await listed()).toEqual([{ tenant, key: 'pbx:1' }])
  expect(await write(2, false)).toBe('committed')
  expect(await listed()).toEqual([])
  expect(await memory.read(tenant, ['pbx:1'])).toEqual([{ version: 3, value: { step: 2 } }])
})

test('a step of another version changes nothing', async () => {
  await write(0, true)
  expect(await write(0, true)).toBe('conflict')
  expect(await write(7, false)).toBe('conflict')
  expect(await listed()).toHaveLength(1)
})

test('the timers belong to the adapter', async () => {
  await write(0, true)
  const due = await createTimerStore(redis).claimDue(100, 60_000)
  expect(due.filter((timer) => timer.tenant === tenant).map(({ id }) => id.split(':')[0])).toEqual(['pbx'])
})
