import { EventEmitter, once } from 'node:events'
import {
  type Delivery,
  newEventId,
  newTraceparent,
  type PlatformEvent,
  type Subscription,
  serialiseEvent,
  Unavailable,
  Unparsable,
} from '@switchhook/contracts'
import type { LoggedEvent } from '@switchhook/store'
import { aSubscription } from '@switchhook/testkit'
import { createHandleEvent, type HandleEvent, type HandleEventDeps, parseEventMessage } from './handle-event.ts'

const event: PlatformEvent = {
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:29:59.500Z',
  tenant: 'acme',
  data: { callId: 'c-1', state: 3 },
}

const subscribers = (count: number): Subscription[] => Array.from({ length: count }, () => aSubscription())

type Publish = Parameters<HandleEvent>[1]

function aHandler(change: Partial<HandleEventDeps & { publishDelivery: Publish }> = {}) {
  const { publishDelivery = async () => {}, ...others } = change
  const handle = createHandleEvent({
    matching: () => Promise.resolve([]),
    hostNow: () => Date.parse('2026-11-20T08:30:00.000Z'),
    fannedOut: () => {},
    log: { debug: () => {} },
    ...others,
  })
  return (event: PlatformEvent, publish = publishDelivery) => handle(event, publish)
}

test('each subscription of the event’s tenant and type gets a delivery', async () => {
  const asked: unknown[] = []
  const published: Delivery[] = []
  const handle = aHandler({
    matching: async (...question) => {
      asked.push(question)
      return subscribers(250)
    },
    publishDelivery: async (delivery) => void published.push(delivery),
  })
  await handle(event)
  expect(asked).toEqual([['acme', 'call.status', event.data, undefined]])
  expect(published).toHaveLength(250)
  expect(new Set(published.map(({ firstDueAt }) => firstDueAt))).toEqual(new Set(['2026-11-20T08:30:00.000Z']))
})

test('an event without subscriptions is handled', async () => {
  await expect(aHandler()(event)).resolves.toBe(0)
})

test('an event is logged with its subscriptions once all its deliveries are stored, and also without any', async () => {
  const steps: unknown[] = []
  const found = subscribers(2)
  for (const subscriptions of [found, []]) {
    const handle = aHandler({
      matching: () => Promise.resolve(subscriptions),
      publishDelivery: async ({ subscriptionId }) => void steps.push(subscriptionId),
      fannedOut: (logged) => void steps.push(logged),
    })
    await handle(event)
  }
  const { eventId, eventType, tenant, occurredAt } = event
  const subject = { callId: 'c-1', agentUri: null, correlationId: null, number: null }
  const dataJson = JSON.stringify(event.data)
  const logged = { eventId, eventType, tenant, occurredAt, fannedOutAt: '2026-11-20T08:30:00.000Z', subject, dataJson }
  const subscriptionIds = found.map(({ id }) => id)
  expect(steps).toEqual([...subscriptionIds, { ...logged, subscriptionIds }, { ...logged, subscriptionIds: [] }])
})

test('handling resolves only after the last confirm', async () => {
  const broker = new EventEmitter()
  const confirmed = async (): Promise<void> => void (await once(broker, 'confirm'))
  let published = 0
  let done = false
  const handle = aHandler({
    matching: () => Promise.resolve(subscribers(10)),
    publishDelivery: () => (++published === 10 ? confirmed() : Promise.resolve()),
  })
  const handling = handle(event).then(() => (done = true))
  await new Promise((resolve) => void setImmediate(resolve))
  expect({ published, done }).toEqual({ published: 10, done: false })
  broker.emit('confirm')
  await handling
})

test('the publishes of an event do not wait for each other’s confirms', async () => {
  const broker = new EventEmitter()
  let published = 0
  const handle = aHandler({
    matching: () => Promise.resolve(subscribers(100)),
    publishDelivery: async () => {
      published += 1
      await once(broker, 'confirm')
    },
  })
  broker.setMaxListeners(0)
  const handling = handle(event)
  await new Promise((resolve) => void setImmediate(resolve))
  expect(published).toBe(100)
  broker.emit('confirm')
  await handling
})

test.each<[string, Parameters<typeof aHandler>[0]]>([
  ['subscriptions cannot be read', { matching: () => Promise.reject(new Unavailable('redis', 'away')) }],
  [
    'a delivery is not confirmed',
    {
      matching: () => Promise.resolve(subscribers(3)),
      publishDelivery: () => Promise.reject(new Unavailable('rabbitmq', 'away')),
    },
  ],
])('when %s handling rejects, so that the event is not acknowledged', async (_case, change) => {
  await expect(aHandler(change)(event)).rejects.toThrow(Unavailable)
})

test('at most 320 publishes of an event run in parallel, and none starts after a failure', async () => {
  const broker = new EventEmitter().setMaxListeners(0)
  let published = 0
  const handle = aHandler({
    matching: () => Promise.resolve(subscribers(700)),
    publishDelivery: async () => {
      published += 1
      await once(broker, 'confirm')
      throw new Unavailable('rabbitmq', 'away')
    },
  })
  const handling = handle(event)
  await new Promise((resolve) => void setImmediate(resolve))
  expect(published).toBe(320)
  broker.emit('confirm')
  await expect(handling).rejects.toThrow(Unavailable)
  await new Promise((resolve) => void setImmediate(resolve))
  expect(published).toBe(320)
})

test('the bodies of a large event are made a few at a time, so that they fit into memory', async () => {
  const large = { ...event, data: { text: 'x'.repeat(200 * 1024) } }
  let published = 0
  const handle = aHandler({
    matching: () => Promise.resolve(subscribers(1_000)),
    publishDelivery: async () => {
      published += 1
      throw new Unavailable('rabbitmq', 'away')
    },
  })
  const before = process.memoryUsage().arrayBuffers
  await expect(handle(large)).rejects.toThrow(Unavailable)
  expect(published).toBe(10)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024)
})

test('after a failed publish the others are awaited, and a retry publishes only what was not stored', async () => {
  const found = subscribers(400)
  const published: string[] = []
  const logged: LoggedEvent[] = []
  let isFailing = true
  const handle = aHandler({
    matching: () => Promise.resolve(found),
    publishDelivery: async ({ subscriptionId }) => {
      if (isFailing && subscriptionId === found[120]?.id) throw new Unavailable('rabbitmq', 'away')
      await new Promise(setImmediate)
      published.push(subscriptionId)
    },
    fannedOut: (entry) => void logged.push(entry),
  })
  await expect(handle(event)).rejects.toThrow(Unavailable)
  const before = published.length
  await new Promise(setImmediate)
  expect(published).toHaveLength(before)
  expect(logged).toEqual([])
  isFailing = false
  await handle(event)
  expect(published.toSorted()).toEqual(found.map(({ id }) => id).toSorted())
  expect(logged.map(({ subscriptionIds }) => subscriptionIds.length)).toEqual([400])
  // An event that was handled is not remembered: a duplicate of it is handled like any event.
  await handle(event)
  expect(published).toHaveLength(800)
})

test('an event that failed is finished with another way to publish, which gets only what was not stored', async () => {
  const found = subscribers(3)
  const published: string[] = []
  const publish: Publish = async ({ subscriptionId }) => void published.push(subscriptionId)
  const handle = aHandler({ matching: () => Promise.resolve(found) })
  const failing: Publish = (delivery) =>
    delivery.subscriptionId === found[1]?.id ? Promise.reject(new Unavailable('rabbitmq', 'away')) : publish(delivery)
  await expect(handle(event, failing)).rejects.toThrow(Unavailable)
  await expect(handle(event, publish)).resolves.toBe(3)
  expect(published.toSorted()).toEqual(found.map(({ id }) => id).toSorted())
})

describe('parsing', () => {
  const routed = { exchange: 'switchhook.fanout', routingKey: 'call.status', headers: {} }
  const parse = (message: Parameters<typeof parseEventMessage>[0]) => parseEventMessage(message, 'q').event

  test('an event that was routed by its type is parsed', () => {
    expect(parse({ ...routed, content: serialiseEvent(event) })).toEqual(event)
  })

  test('an event that an operator moved into the queue, past all exchanges, is parsed', () => {
    const moved = { ...routed, exchange: '', routingKey: 'fanout.events' }
    expect(parse({ ...moved, content: serialiseEvent(event) })).toEqual(event)
  })

  test('the trace context is read from the headers only, and an invalid one is left out', () => {
    const traceparent = newTraceparent()
    const content = Buffer.from(JSON.stringify({ ...event, traceparent: 'in the content' }))
    const withHeaders = (headers: Record<string, unknown>) => parse({ ...routed, content, headers })
    expect(withHeaders({ traceparent })).toEqual({ ...event, traceparent })
    expect(withHeaders({ traceparent: '00-1' })).toEqual(event)
    expect(withHeaders({ traceparent: 7 })).toEqual(event)
  })

  test('the revision of the subscriptions is read from the headers', () => {
    const content = serialiseEvent(event)
    const withRevision = (revision: unknown) => parse({ ...routed, content, headers: { 'sh-revision': revision } })
    expect(withRevision('r1')).toEqual({ ...event, revision: 'r1' })
    expect(withRevision(7)).toEqual(event)
  })

  test.each<[string, Buffer, string]>([
    ['routed as another type', serialiseEvent(event), 'agent.status'],
    ['routed as something unknown', serialiseEvent(event), 'fanout.events'],
    ['that is not JSON', Buffer.from('<event/>'), 'call.status'],
    ['with an unknown type', Buffer.from(JSON.stringify({ ...event, eventType: 'call.dreamt' })), 'call.dreamt'],
    ['without an id', Buffer.from(JSON.stringify({ ...event, eventId: undefined })), 'call.status'],
  ])('a message %s is unparsable', (_case, content, routingKey) => {
    expect(() => parse({ ...routed, content, routingKey })).toThrow(Unparsable)
  })
})
