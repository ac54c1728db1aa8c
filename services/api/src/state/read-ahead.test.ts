import type { StateRecord, StateStore } from '@switchhook/store'
import { type AheadOfRequest, createReadAheadStore } from './read-ahead.ts'

function storeUnderTest() {
  const ahead: AheadOfRequest = new Map()
  const stored = new Map<string, StateRecord>()
  const reads: (readonly string[])[] = []
  const plain: StateStore = {
    read: async (tenant, keys) => {
      reads.push(keys)
      return keys.map((key) => stored.get(`${tenant} ${key}`))
    },
    commit: async () => 'committed',
  }
  const put = (key: string, version: number): void => void stored.set(`acme ${key}`, { version, value: key })
  const clock = { nowMs: 0 }
  const store = createReadAheadStore(
    plain,
    () => ahead,
    () => clock.nowMs,
  )
  return { store, plain, reads, put, clock }
}

test('records read ahead are read in one round trip, and each is used once', async () => {
  const { store, reads, put } = storeUnderTest()
  put('call', 1)
  put('session', 7)
  expect(await store.readAhead('acme', ['call', 'agent'], ['session', 'call', 'agent'])).toEqual([
    { version: 1, value: 'call' },
    undefined,
  ])
  expect(await store.read('acme', ['session'])).toEqual([{ version: 7, value: 'session' }])
  expect(await store.read('acme', ['call', 'agent'])).toEqual([{ version: 1, value: 'call' }, undefined])
  expect(reads).toEqual([['call', 'agent', 'session']])
  put('call', 2)
  expect(await store.read('acme', ['call'])).toEqual([{ version: 2, value: 'call' }])
})

test('a read that needs another record too reads all of them', async () => {
  const { store, reads } = storeUnderTest()
  await store.readAhead('acme', [], ['call'])
  await store.read('acme', ['call', 'agent'])
  await store.read('acme', ['call'])
  expect(reads).toEqual([['call'], ['call', 'agent'], ['call']])
})

test('a record of another tenant is not used', async () => {
  const { store, put } = storeUnderTest()
  put('call', 1)
  await store.readAhead('acme', [], ['call'])
  expect(await store.read('globex', ['call'])).toEqual([undefined])
})

test('a record that this request commits is read again', async () => {
  const { store, put } = storeUnderTest()
  put('agent', 1)
  await store.readAhead('acme', [], ['agent'])
  await store.commit('acme', { records: [{ key: 'agent', expectedVersion: 1, value: 'x' }], events: [], timers: [] })
  put('agent', 2)
  expect(await store.read('acme', ['agent'])).toMatchObject([{ version: 2 }])
})

test('records read ahead are not used after a second', async () => {
  const { store, reads, clock } = storeUnderTest()
  await store.readAhead('acme', [], ['call', 'agent'])
  clock.nowMs = 1_000
  await store.read('acme', ['call'])
  expect(reads).toHaveLength(1)
  clock.nowMs = 1_001
  await store.read('acme', ['agent'])
  expect(reads).toHaveLength(2)
})

test('outside a request nothing is read ahead', async () => {
  const { plain, reads } = storeUnderTest()
  const outside = createReadAheadStore(plain, () => undefined)
  await outside.readAhead('acme', ['call'], ['session'])
  await outside.read('acme', ['session'])
  expect(reads).toEqual([['call'], ['session']])
})
