import type { DeviceReport } from '../platform.ts'
import { VirtualStorage } from '../testing/virtual-storage.ts'
import { createDevices } from './devices.ts'

const ALICE = 'sip:alice@acme.example'
const tenant = 'acme'

let storage: VirtualStorage
let orders: number[]

beforeEach(() => {
  storage = new VirtualStorage()
  orders = []
})

const open = () =>
  createDevices({
    storage,
    onError: () => {},
    now: () => storage.nowMs,
    listener: () => ({ legs: async () => {}, device: async ({ order }: DeviceReport) => void orders.push(order) }),
    prefix: { record: 'device', timer: 'device' },
    timerMs: 1,
  })

test('the order of a device rises although its record has expired, for the listener does not forget the last one', async () => {
  const expireAll = storage.backUp()
  const devices = open()
  for (const online of [false, true, false]) await devices.set(tenant, ALICE, online)
  expireAll()
  storage.nowMs += 366 * 24 * 60 * 60_000
  await devices.set(tenant, ALICE, false)
  expect(orders).toHaveLength(4)
  expect(orders).toEqual([...new Set(orders)].toSorted((a, b) => a - b))
})

test.each([
  ['an expired record', 7],
  ['a replica whose clock is ahead', Date.UTC(2027, 0, 1)],
])('the order continues that of %s', async (_by, order) => {
  const value = { online: false, order, at: '2025-12-31T00:00:00.000Z' }
  const record = { key: `device:${ALICE}`, expectedVersion: 0, value, ttlMs: 0 }
  await storage.write(tenant, { records: [record], timers: [] })
  await open().set(tenant, ALICE, true)
  expect(orders).toEqual([Math.max(order + 1, storage.nowMs)])
})
