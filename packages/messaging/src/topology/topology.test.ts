import { type EventId, newEventId, newSubscriptionId, type SubscriptionId } from '@switchhook/contracts'
import * as fc from 'fast-check'
import {
  backlogOf,
  backlogQueue,
  backlogQueues,
  DELIVERY_EXCHANGE,
  dueQueueFor,
  dueQueues,
  EVENTS_EXCHANGE,
  eventQueues,
  eventShardOf,
  FANOUT_EXCHANGE,
  fanoutExchange,
  hasRoute,
  LANES,
  laneQueueFor,
  laneQueues,
  packetQueues,
  Queue,
  serviceTopology,
  type Topology,
  waitQueueFor,
  waitQueues,
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
  expect(
    serviceTopology([60_000], {
      deliveryShards: 2,
      eventShards: 2,
      others: [...laneQueues(1), ...backlogQueues.slice(0, 1)],
    }).queues,
  ).toEqual({
    quarantine: { 'x-overflow': 'reject-publish', 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000_000 },
    'fanout.events': work,
    'fanout.events.1': work,
    'delivery.due': work,
    'delivery.due.1': work,
    'delivery.lane.0': work,
    'fanout.backlog.0': work,
    'delivery.backlog': work,
    'delivery.packets': work,
    'delivery.packets.1': work,
    'delivery.packets.backlog': work,
    'fanout.events.packets': work,
    'fanout.events.packets.1': work,
    'delivery.checks': work,
    'delivery.outcomes': work,
    'delivery.wait.60000': {
      ...letters,
      'x-dead-letter-routing-key': 'delivery.due',
      'x-delivery-limit': 1_000_000_000,
      'x-message-ttl': 60_000,
    },
    'delivery.wait.60000.1': {
      ...letters,
      'x-dead-letter-routing-key': 'delivery.due.1',
      'x-delivery-limit': 1_000_000_000,
      'x-message-ttl': 60_000,
    },
  })
})

test('only its queue is bound to the exchange of a shard of events', () => {
  const {
    exchanges,
    bindings,
    exchangeBindings = [],
  } = serviceTopology([1_000], { deliveryShards: 2, eventShards: 2, others: laneQueues(4) })
  expect([...bindings, ...exchangeBindings].filter(({ from }) => from.startsWith(FANOUT_EXCHANGE))).toEqual([
    { from: 'switchhook.fanout', key: '#', to: 'fanout.events' },
    { from: 'switchhook.fanout.1', key: '#', to: 'fanout.events.1' },
  ])
  expect(exchanges).toMatchObject({ 'switchhook.fanout': 'fanout', 'switchhook.fanout.1': 'fanout' })
})

test('every lane is declared and bound by its name, and each subscription has one', () => {
  const topology = serviceTopology([], { others: laneQueues(LANES) })
  for (const lane of laneQueues(LANES)) {
    expect(Object.keys(topology.queues)).toContain(lane)
    expect(hasRoute(topology, DELIVERY_EXCHANGE, lane)).toBe(true)
  }
  const lanesOf = Array.from({ length: 1_000 }, () => laneQueueFor(newSubscriptionId()))
  expect(new Set(lanesOf)).toEqual(new Set(laneQueues(LANES)))
})

test('every backlog is declared and bound by its name, and each tenant has one', () => {
  const topology = serviceTopology([], { others: backlogQueues })
  expect(backlogQueues).toHaveLength(16)
  expect(danglingNames(topology)).toEqual([])
  for (const queue of [...backlogQueues, Queue.yielding]) {
    expect(Object.keys(topology.queues)).toContain(queue)
    expect(hasRoute(topology, DELIVERY_EXCHANGE, queue)).toBe(true)
  }
  const tenants = fc.option(fc.string())
  fc.assert(fc.property(tenants, (tenant) => expect(backlogQueues).toContain(backlogQueue(backlogOf(tenant)))))
})

test('every shard of deliveries is declared and bound, and each subscription has one shard', () => {
  const topology = serviceTopology([1_000], { deliveryShards: 3, others: laneQueues(2) })
  const names = ['delivery.due', 'delivery.due.1', 'delivery.due.2']
  expect(dueQueues(3)).toEqual(names)
  expect(Object.keys(topology.queues)).toEqual(expect.arrayContaining(names))
  expect(topology.queues['delivery.due.2']).toEqual(topology.queues['delivery.due'])
  expect(danglingNames(topology)).toEqual([])
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 1, max: 64 }), (id, shards) => {
      const subscription = id as SubscriptionId
      expect(dueQueues(shards)).toContain(dueQueueFor(subscription, shards))
      expect(dueQueueFor(subscription, 1)).toBe(Queue.deliveryDue)
    }),
  )
})

test('a retry waits in the queue of its subscription’s shard, and returns to that shard', () => {
  const topology = serviceTopology([1_000], { deliveryShards: 3 })
  expect(waitQueues(1_000, 3)).toEqual(['delivery.wait.1000', 'delivery.wait.1000.1', 'delivery.wait.1000.2'])
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const subscription = id as SubscriptionId
      const queue = waitQueueFor(subscription, 1_000, 3)
      expect(hasRoute(topology, DELIVERY_EXCHANGE, queue)).toBe(true)
      expect(topology.queues[queue]?.['x-dead-letter-routing-key']).toBe(dueQueueFor(subscription, 3))
      expect(waitQueueFor(subscription, 1_000, 1)).toBe('delivery.wait.1000')
    }),
  )
})

test('each shard of packets, and the queue of yielding packets, is declared and bound', () => {
  const topology = serviceTopology([], { deliveryShards: 2 })
  expect(packetQueues(2)).toEqual(['delivery.packets', 'delivery.packets.1'])
  for (const queue of [...packetQueues(2), Queue.yieldingPackets]) {
    expect(Object.keys(topology.queues)).toContain(queue)
    expect(hasRoute(topology, DELIVERY_EXCHANGE, queue)).toBe(true)
  }
  expect(danglingNames(topology)).toEqual([])
})

test('shards of an earlier configuration are declared, and nothing is published to them', () => {
  const topology = serviceTopology([1_000], { deliveryShards: 2, others: [...dueQueues(4), ...packetQueues(4)] })
  expect(Object.keys(topology.queues)).toEqual(expect.arrayContaining([...dueQueues(4), ...packetQueues(4)]))
  expect(Object.keys(topology.queues).filter((name) => name.startsWith('delivery.wait'))).toHaveLength(2)
  expect(topology.shards).toEqual({ deliveries: 2, events: 1 })
  expect(danglingNames(topology)).toEqual([])
})

test('every shard of events is declared and bound, and the events of one call or agent have one shard', () => {
  const topology = serviceTopology([], { eventShards: 3 })
  expect(eventQueues(3)).toEqual(['fanout.events', 'fanout.events.1', 'fanout.events.2'])
  expect(danglingNames(topology)).toEqual([])
  const subjects = fc.oneof(
    fc.record({ callId: fc.uuid(), agentUri: fc.string() }),
    fc.record({ agentUri: fc.string() }),
  )
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), subjects, (some, other, data) => {
      const exchangeOf = (id: string, shards = 3) =>
        fanoutExchange(eventShardOf({ eventId: id as EventId, data }, shards))
      expect(exchangeOf(some)).toBe(exchangeOf(other))
      expect(hasRoute(topology, exchangeOf(some), 'call.status')).toBe(true)
      expect(exchangeOf(some, 1)).toBe(FANOUT_EXCHANGE)
    }),
  )
})

test('events without a call and an agent are spread by their ids', () => {
  const ids = Array.from({ length: 50 }, () => newEventId())
  expect(new Set(ids.map((eventId) => eventShardOf({ eventId, data: {} }, 3))).size).toBe(3)
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
  expect(queues['delivery.wait.60000']).toMatchObject({
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
    { exchanges: { y: 'topic' }, queues: {}, bindings: [], exchangeBindings: [{ from: 'x', key: '#', to: 'y' }] },
  ],
  [
    'a link to an exchange',
    ['q'],
    {
      exchanges: { x: 'topic' },
      queues: { q: {} },
      bindings: [],
      exchangeBindings: [{ from: 'x', key: '#', to: 'q' }],
    },
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

/** Exchanges and queues that a topology names but does not declare, and dead-letter keys without a binding. */
function danglingNames({ exchanges, alternates = {}, queues, bindings, exchangeBindings = [] }: Topology): string[] {
  const names = [
    ...[...bindings, ...exchangeBindings].map(({ from }) => from).filter((name) => !(name in exchanges)),
    ...bindings.map(({ to }) => to).filter((name) => !(name in queues)),
    ...[...exchangeBindings.map(({ to }) => to), ...Object.entries(alternates).flat()].filter(
      (name) => !(name in exchanges),
    ),
  ]
  const deadLetters = Object.values(queues).flatMap((queue) => {
    const exchange = queue['x-dead-letter-exchange']
    const key = queue['x-dead-letter-routing-key']
    if (exchange === undefined) return []
    if (!(exchange in exchanges)) return [String(exchange)]
    return bindings.some((binding) => binding.from === exchange && binding.key === key) ? [] : [String(key)]
  })
  return [...new Set([...names, ...deadLetters])]
}
