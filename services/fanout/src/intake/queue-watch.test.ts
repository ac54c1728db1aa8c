import { Queue, type QueueDepth } from '@switchhook/messaging'
import { eventually } from '@switchhook/testkit'
import { type QueueWatchDeps, startQueueWatch } from './queue-watch.ts'

const WORKERS: QueueDepth = { ready: 0, consumers: 2 }
const IDLE: QueueWatchDeps['fromBacklogs'] = { hasWork: () => false, isWaiting: () => false, setOpen: () => {} }
const watches: ReturnType<typeof startQueueWatch>[] = []

afterEach(async () => {
  await Promise.all(watches.splice(0).map((watch) => watch.stop()))
})

/** Watches queues whose depths are `depths`; all others have workers and no messages. */
function aWatch(depths: Record<string, QueueDepth> = {}, change: Partial<QueueWatchDeps> = {}) {
  const reads: (readonly string[])[] = []
  const watch = startQueueWatch({
    broker: {
      queueDepths: async (queues) => {
        reads.push(queues)
        return queues.map((queue) => depths[queue] ?? WORKERS)
      },
    },
    deliveryShards: 2,
    shares: { backlogs: () => new Set(), endDeferrals: () => {} },
    direct: { hasWork: () => true },
    fromBacklogs: IDLE,
    firstAttempts: { membersPerPacket: () => 10 },
    yielding: { membersPerPacket: () => 12 },
    ...change,
  })
  watches.push(watch)
  return { watch, reads, depths }
}

test.each<[string, Record<string, QueueDepth>, boolean]>([
  ['200 deliveries', { [Queue.deliveryDue]: { ready: 200, consumers: 1 } }, false],
  ['201 deliveries', { [Queue.deliveryDue]: { ready: 201, consumers: 1 } }, true],
  ['20 packets of 10', { [Queue.deliveryPackets]: { ready: 20, consumers: 1 } }, false],
  ['21 packets of 10', { 'delivery.packets.1': { ready: 21, consumers: 1 } }, true],
  [
    '101 deliveries and 10 packets of 10 in one shard',
    { [Queue.deliveryDue]: { ready: 101, consumers: 1 }, [Queue.deliveryPackets]: { ready: 10, consumers: 1 } },
    true,
  ],
  ['500 deliveries that give way', { [Queue.yielding]: { ready: 500, consumers: 1 } }, true],
])('deliveries are late beyond 200, and packets count their members: %s', async (_case, depths, isLate) => {
  const { watch, reads } = aWatch(depths)
  await eventually(() => expect(reads.length).toBeGreaterThan(1))
  expect(watch.areDeliveriesLate()).toBe(isLate)
})

test.each<[string, Record<string, QueueDepth>, boolean]>([
  ['499 deliveries', { [Queue.yielding]: { ready: 499, consumers: 1 } }, true],
  ['500 deliveries', { [Queue.yielding]: { ready: 500, consumers: 1 } }, false],
  ['41 packets of 12', { [Queue.yieldingPackets]: { ready: 41, consumers: 1 } }, true],
  ['42 packets of 12', { [Queue.yieldingPackets]: { ready: 42, consumers: 1 } }, false],
])(
  'up to 500 deliveries of backlogs are published, and packets count their members: %s',
  async (_case, depths, mayRelease) => {
    const opened: boolean[] = []
    aWatch(depths, { fromBacklogs: { ...IDLE, hasWork: () => true, setOpen: (isOpen) => void opened.push(isOpen) } })
    await eventually(() => expect(opened.length).toBeGreaterThan(1))
    expect(new Set(opened)).toEqual(new Set([mayRelease]))
  },
)

test('without work, no queue is read', async () => {
  let hasWork = false
  const { reads } = aWatch({}, { direct: { hasWork: () => hasWork } })
  const { reads: others } = aWatch()
  await eventually(() => expect(others.length).toBeGreaterThan(1))
  expect(reads).toEqual([])
  hasWork = true
  await eventually(() => expect(reads.length).toBeGreaterThan(0))
  expect(reads[0]).toEqual([
    'delivery.due',
    'delivery.due.1',
    'delivery.packets',
    'delivery.packets.1',
    'delivery.backlog',
    'delivery.packets.backlog',
  ])
})

test('while the broker is away the last read stays in force', async () => {
  let isAway = false
  let refused = 0
  const { watch } = aWatch(
    {},
    {
      broker: {
        queueDepths: async (queues) => {
          if (!isAway) return queues.map(() => ({ ready: 1_000, consumers: 1 }))
          refused += 1
          throw new Error('away')
        },
      },
    },
  )
  await eventually(() => expect(watch.areDeliveriesLate()).toBe(true))
  isAway = true
  await eventually(() => expect(refused).toBeGreaterThan(1))
  expect(watch.areDeliveriesLate()).toBe(true)
})
