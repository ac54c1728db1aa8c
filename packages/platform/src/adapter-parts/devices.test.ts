import type { DeviceReport, StoredRecord } from '../platform.ts'
import { createDevices } from './devices.ts'
import type { AdapterStorage, RecordChange } from './storage.ts'

const ALICE = 'sip:alice@acme.example'
const tenant = 'acme'

const records = new Map<string, StoredRecord>()
const storage: AdapterStorage = {
  read: async (_tenant, keys) => keys.map((key) => records.get(key) ?? { version: 0, value: undefined }),
  write: async (_tenant, change) => {
    const isKnown = ({ key, expectedVersion }: RecordChange) => (records.get(key)?.version ?? 0) === expectedVersion
    if (!change.records.every(isKnown)) return 'conflict'
    for (const { key, expectedVersion, value } of change.records)
      records.set(key, { version: expectedVersion + 1, value })
    return 'committed'
  },
}
let nowMs: number
let orders: number[]

beforeEach(() => {
  records.clear()
  nowMs = Date.UTC(2026, 0, 1)
  orders = []
})

const open = () =>
  createDevices({
    storage,
    onError: () => {},
    now: () => nowMs,
    listener: () => ({ legs: async () => {}, device: async ({ order }: DeviceReport) => void orders.push(order) }),
    prefix: { record: 'device', timer: 'device' },
    timerMs: 1,
  })

test('the order of a device rises although its record has expired, for the listener does not forget the last one', async () => {
  const devices = open()
  for (const online of [false, true, false]) await devices.set(tenant, ALICE, online)
  records.clear()
  nowMs += 366 * 24 * 60 * 60_000
  await devices.set(tenant, ALICE, false)
  expect(orders).toHaveLength(4)
  expect(orders).toEqual([...new Set(orders)].toSorted((a, b) => a - b))
})

test.each([
  ['an expired record', 7],
  ['a replica whose clock is ahead', Date.UTC(2027, 0, 1)],
])('the order continues that of %s', async (_by, order) => {
  const value = { online: false, order, at: '2025-12-31T00:00:00.000Z' }
  records.set(`device:${ALICE}`, { version: 1, value })
  await open().set(tenant, ALICE, true)
  expect(orders).toEqual([Math.max(order + 1, nowMs)])
})
