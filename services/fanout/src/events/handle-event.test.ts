import { EventEmitter, once } from 'node:events'
import {
  type Delivery,
  newEventId,
  newSubscriptionId,
  type PlatformEvent,
  type Subscription,
  Unavailable,
} from '@switchhook/contracts'
import { createHandleEvent, type HandleEventDeps } from './handle-event.ts'

const event: PlatformEvent = {
  eventId: newEventId(),
  eventType: 'call.status',
  occurredAt: '2026-11-20T08:29:59.500Z',
  tenant: 'acme',
  data: { callId: 'c-1', state: 3 },
}

const subscribers = (count: number): Subscription[] =>
  Array.from({ length: count }, () => ({
    id: newSubscriptionId(),
    tenant: 'acme',
    url: 'https://client.example/hook',
    eventTypes: ['call.status'],
    description: null,
    enabled: true,
    createdAt: '2026-11-20T08:00:00.000Z',
  }))

const deps = (change: Partial<HandleEventDeps>): HandleEventDeps => ({
  matching: () => Promise.resolve([]),
  publishDelivery: () => Promise.resolve(),
  now: () => new Date('2026-11-20T08:30:00.000Z'),
  fannedOut: () => {},
  remember: () => {},
  log: { debug: () => {} },
  ...change,
})

test('it asks for the event’s tenant and type, and publishes a delivery for each subscription found', async () => {
  const asked: unknown[] = []
  const published: Delivery[] = []
  const handle = createHandleEvent(
    deps({
      matching: async (...question) => {
        asked.push(question)
        return subscribers(250)
      },
      publishDelivery: async (delivery) => void published.push(delivery),
    }),
  )
  await handle(event)
  expect(asked).toEqual([['acme', 'call.status']])
  expect(published).toHaveLength(250)
  expect(new Set(published.map(({ firstDueAt }) => firstDueAt))).toEqual(new Set(['2026-11-20T08:30:00.000Z']))
})

test('an event that nobody subscribed to is done', async () => {
  await expect(createHandleEvent(deps({}))(event)).resolves.toBeUndefined()
})

test('it tells who each event became a delivery for, once all of them are stored, and of nobody as well', async () => {
  const steps: unknown[] = []
  const found = subscribers(2)
  for (const subscriptions of [found, []]) {
    const handle = createHandleEvent(
      deps({
        matching: () => Promise.resolve(subscriptions),
        publishDelivery: async ({ subscriptionId }) => void steps.push(subscriptionId),
        remember: (remembered) => void steps.push(remembered),
      }),
    )
    await handle(event)
  }
  const { eventId, eventType, tenant, occurredAt } = event
  const subject = { callId: 'c-1', agentUri: null, correlationId: null }
  const remembered = { eventId, eventType, tenant, occurredAt, fannedOutAt: '2026-11-20T08:30:00.000Z', subject }
  const subscriptionIds = found.map(({ id }) => id)
  expect(steps).toEqual([
    ...subscriptionIds,
    { ...remembered, subscriptionIds },
    { ...remembered, subscriptionIds: [] },
  ])
})

test('it does not resolve before the last confirm', async () => {
  const broker = new EventEmitter()
  const confirmed = async (): Promise<void> => void (await once(broker, 'confirm'))
  let published = 0
  let done = false
  const handle = createHandleEvent(
    deps({
      matching: () => Promise.resolve(subscribers(10)),
      publishDelivery: () => (++published === 10 ? confirmed() : Promise.resolve()),
    }),
  )
  const handling = handle(event).then(() => (done = true))
  await new Promise((resolve) => void setImmediate(resolve))
  expect({ published, done }).toEqual({ published: 10, done: false })
  broker.emit('confirm')
  await handling
})

test('no publish of an event waits for the confirm of another', async () => {
  const broker = new EventEmitter()
  let published = 0
  const handle = createHandleEvent(
    deps({
      matching: () => Promise.resolve(subscribers(100)),
      publishDelivery: async () => {
        published += 1
        await once(broker, 'confirm')
      },
    }),
  )
  broker.setMaxListeners(0)
  const handling = handle(event)
  await new Promise((resolve) => void setImmediate(resolve))
  expect(published).toBe(100)
  broker.emit('confirm')
  await handling
})

test.each<[string, Partial<HandleEventDeps>]>([
  ['subscriptions cannot be read', { matching: () => Promise.reject(new Unavailable('redis', 'away')) }],
  [
    'a delivery is not confirmed',
    {
      matching: () => Promise.resolve(subscribers(3)),
      publishDelivery: () => Promise.reject(new Unavailable('rabbitmq', 'away')),
    },
  ],
])('when %s it rejects, so that the event is not acked', async (_name, change) => {
  await expect(createHandleEvent(deps(change))(event)).rejects.toThrow(Unavailable)
})
