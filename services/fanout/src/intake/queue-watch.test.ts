import { Queue } from '@switchhook/messaging'
import { eventually } from '@switchhook/testkit'
import { type QueueWatchDeps, startQueueWatch } from './queue-watch.ts'

const IDLE: QueueWatchDeps['fromBacklogs'] = { hasWork: () => false, isWaiting: () => false, setOpen: () => {} }
const watches: ReturnType<typeof startQueueWatch>[] = []

afterEach(async () => {
  await Promise.all(watches.splice(0).map((watch) => watch.stop()))
})

/** Watches queues whose depths are `depths`; all others are empty. */
function aWatch(depths: Record<string, number> = {}, change: Partial<QueueWatchDeps> = {}) {
  const reads: (readonly string[])[] = []
  const watch = startQueueWatch({
    broker: {
      queueDepths: async (queues) => {
        reads.push(queues)
        return queues.map((queue) => depths[queue] ?? 0)
      },
    },
    deliveryShards: 2,
    shares: { backlogs: () => new Set(), endDeferrals: () => {} },
    direct: { hasWork: () => true },
    fromBacklogs: IDLE,
    ...change,
  })
  watches.push(watch)
  return { watch, reads, depths }
}

test.each<[string, Record<string, number>, boolean]>([
  ['200 deliveries', { [Queue.deliveryDue]: 200 }, false],
  ['201 deliveries', { [Queue.deliveryDue]: 201 }, true],
  ['12 packets', { [Queue.deliveryPackets]: 12 }, false],
  ['13 packets', { 'delivery.packets.1': 13 }, true],
  ['41 deliveries and 10 packets in one shard', { [Queue.deliveryDue]: 41, [Queue.deliveryPackets]: 10 }, true],
  ['500 deliveries that give way', { [Queue.yielding]: 500 }, true],
])('deliveries are late beyond 200, and a packet counts as 16: %s', async (_case, depths, isLate) => {
  const { watch, reads } = aWatch(depths)
  await eventually(() => expect(reads.length).toBeGreaterThan(1))
  expect(watch.areDeliveriesLate()).toBe(isLate)
})

test.each<[string, Record<string, number>, boolean]>([
  ['499 deliveries', { [Queue.yielding]: 499 }, true],
  ['500 deliveries', { [Queue.yielding]: 500 }, false],
  ['31 packets', { [Queue.yieldingPackets]: 31 }, true],
  ['32 packets', { [Queue.yieldingPackets]: 32 }, false],
])(
  'up to 500 deliveries of backlogs are published, and a packet counts as 16: %s',
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
    'delivery.packets',
    'delivery.due.1',
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
          if (!isAway) return queues.map(() => 1_000)
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
