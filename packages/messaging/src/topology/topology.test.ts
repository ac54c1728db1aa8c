import type { SubscriptionId } from '@switchhook/contracts'
import * as fc from 'fast-check'
import {
  backlogOf,
  backlogQueue,
  backlogQueues,
  DELIVERY_EXCHANGE,
  danglingNames,
  dueQueueFor,
  dueQueues,
  EVENTS_EXCHANGE,
  FANOUT_EXCHANGE,
  hasRoute,
  laneQueues,
  Queue,
  serviceTopology,
  shardsOf,
  waitQueue,
} from './topology.ts'

const waits = fc.array(fc.integer({ min: 1, max: 2_073_600_000 }), { maxLength: 20 })

test('no topology of any schedule has dangling names', () => {
  fc.assert(fc.property(waits, (waitsMs) => expect(danglingNames(serviceTopology(waitsMs))).toEqual([])))
})

test('a queue’s arguments depend only on its name, so two schedules never declare one queue differently', () => {
  fc.assert(
    fc.property(waits, waits, (some, others) => {
      const { queues: one } = serviceTopology(some)
      const { queues: other } = serviceTopology(others)
      for (const name of Object.keys(one)) {
        if (name in other) expect(other[name]).toEqual(one[name])
      }
    }),
  )
})

test('every queue is a quorum queue that loses nothing and has an explicit delivery limit', () => {
  for (const [name, queueArguments] of Object.entries(serviceTopology([10_000]).queues)) {
    expect([name, queueArguments]).toEqual([
      name,
      expect.objectContaining({
        'x-queue-type': 'quorum',
        'x-overflow': 'reject-publish',
        'x-delivery-limit': expect.any(Number) as number,
      }),
    ])
    if (name !== Queue.quarantine) expect(queueArguments['x-dead-letter-strategy']).toBe('at-least-once')
  }
})

test('the arguments equal those of existing queues: another value needs another name', () => {
  const letters = {
    'x-dead-letter-exchange': 'switchhook.delivery',
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
    'x-queue-type': 'quorum',
  }
  const work = { ...letters, 'x-dead-letter-routing-key': 'quarantine', 'x-delivery-limit': 20 }
  expect(serviceTopology([60_000], 1, 2, backlogQueues.slice(0, 1)).queues).toEqual({
    quarantine: { 'x-overflow': 'reject-publish', 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000_000 },
    'fanout.events': work,
    'delivery.due': work,
    'delivery.due.1': work,
    'delivery.lane.0': work,
    'fanout.backlog.0': work,
    'delivery.backlog': { ...work, 'x-dead-letter-routing-key': 'delivery.due', 'x-message-ttl': 60_000 },
    'delivery.checks': work,
    'delivery.wait.60000': {
      ...letters,
      'x-dead-letter-routing-key': 'delivery.due',
      'x-delivery-limit': 1_000_000_000,
      'x-message-ttl': 60_000,
    },
  })
})

test('only fan-out’s queue is bound to the exchange of our events', () => {
  const { bindings, links = [] } = serviceTopology([1_000], 4, 2)
  expect([...bindings, ...links].filter(({ from }) => from === FANOUT_EXCHANGE)).toEqual([
    { from: 'switchhook.fanout', key: '#', to: 'fanout.events' },
  ])
})

test('every lane is declared, and bound by its name', () => {
  const topology = serviceTopology([], 16)
  for (const lane of laneQueues(16)) {
    expect(Object.keys(topology.queues)).toContain(lane)
    expect(hasRoute(topology, DELIVERY_EXCHANGE, lane)).toBe(true)
  }
})

test('every backlog is declared and bound by its name, and each tenant has one', () => {
  const topology = serviceTopology([], 0, 1, backlogQueues)
  expect(backlogQueues).toHaveLength(16)
  expect(danglingNames(topology)).toEqual([])
  for (const queue of [...backlogQueues, Queue.deliveryBacklog]) {
    expect(Object.keys(topology.queues)).toContain(queue)
    expect(hasRoute(topology, DELIVERY_EXCHANGE, queue)).toBe(true)
  }
  const tenants = fc.option(fc.string())
  fc.assert(fc.property(tenants, (tenant) => expect(backlogQueues).toContain(backlogQueue(backlogOf(tenant)))))
})

test('every shard is declared and bound, and each subscription has one shard', () => {
  const topology = serviceTopology([1_000], 2, 3)
  const names = ['delivery.due', 'delivery.due.1', 'delivery.due.2']
  expect(dueQueues(3)).toEqual(names)
  expect(Object.keys(topology.queues)).toEqual(expect.arrayContaining(names))
  expect(topology.queues['delivery.due.2']).toEqual(topology.queues['delivery.due'])
  expect(danglingNames(topology)).toEqual([])
  expect([1, 2, 7].map((shards) => shardsOf(serviceTopology([], 4, shards)))).toEqual([1, 2, 7])
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 1, max: 64 }), (id, shards) => {
      const subscription = id as SubscriptionId
      expect(dueQueues(shards)).toContain(dueQueueFor(subscription, shards))
      expect(dueQueueFor(subscription, 1)).toBe(Queue.deliveryDue)
    }),
  )
})

test.each<[string, string, boolean]>([
  [DELIVERY_EXCHANGE, 'delivery.wait.1000', true],
  [DELIVERY_EXCHANGE, 'delivery.wait.2000', false],
  [FANOUT_EXCHANGE, 'call.status', true],
  ['', 'delivery.due', false],
])('a message to exchange %p with routing key %s should find a queue: %s', (exchange, key, expected) => {
  expect(hasRoute(serviceTopology([1_000]), exchange, key)).toBe(expected)
})

test('each distinct wait has one queue that dead-letters to the due queue', () => {
  const { queues } = serviceTopology([1_000, 60_000, 1_000])
  const names = Object.keys(queues).filter((name) => name.startsWith('delivery.wait.'))
  expect(names).toEqual(['delivery.wait.1000', 'delivery.wait.60000'])
  expect(queues[waitQueue(60_000)]).toMatchObject({
    'x-message-ttl': 60_000,
    'x-dead-letter-exchange': DELIVERY_EXCHANGE,
    'x-dead-letter-routing-key': Queue.deliveryDue,
  })
})

test('the target of dead letters is bound before the queues that dead-letter to it', () => {
  const keys = serviceTopology([1_000]).bindings.map(({ key }) => key)
  expect(keys.slice(0, 2)).toEqual([Queue.quarantine, Queue.deliveryDue])
})

test.each<[string, string[], Parameters<typeof danglingNames>[0]]>([
  [
    'a binding from an exchange',
    ['x'],
    { exchanges: {}, queues: { q: {} }, bindings: [{ from: 'x', key: '#', to: 'q' }] },
  ],
  [
    'a binding to a queue',
    ['q'],
    { exchanges: { x: 'topic' }, queues: {}, bindings: [{ from: 'x', key: '#', to: 'q' }] },
  ],
  [
    'a link from an exchange',
    ['x'],
    { exchanges: { y: 'topic' }, queues: {}, bindings: [], links: [{ from: 'x', key: '#', to: 'y' }] },
  ],
  [
    'a link to an exchange',
    ['q'],
    { exchanges: { x: 'topic' }, queues: { q: {} }, bindings: [], links: [{ from: 'x', key: '#', to: 'q' }] },
  ],
  ['an alternate exchange', ['y'], { exchanges: { x: 'topic' }, alternates: { x: 'y' }, queues: {}, bindings: [] }],
  ['a dead-letter exchange', ['x'], { exchanges: {}, queues: { q: { 'x-dead-letter-exchange': 'x' } }, bindings: [] }],
  [
    'a dead-letter key',
    ['gone'],
    {
      exchanges: { [EVENTS_EXCHANGE]: 'direct' },
      queues: { q: { 'x-dead-letter-exchange': EVENTS_EXCHANGE, 'x-dead-letter-routing-key': 'gone' } },
      bindings: [{ from: EVENTS_EXCHANGE, key: 'other', to: 'q' }],
    },
  ],
])('%s that does not exist is reported', (_case, expected, topology) => {
  expect(danglingNames(topology)).toEqual(expected)
})
