import { parseEvent } from '@switchhook/contracts'
import {
  eventually,
  openQueueObserver,
  type QueueObserver,
  type RecordingLog,
  type RecordingMetrics,
  recordingLog,
  recordingMetrics,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { type Broker, openBroker } from '../broker.ts'
import { sampleEvent } from '../testing/samples.ts'
import { EVENTS_EXCHANGE, Queue, serviceTopology } from '../topology/topology.ts'

const LISTENER = 'listener'

let server: TestBroker
let observer: QueueObserver
let log: RecordingLog
let meters: RecordingMetrics
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  observer = await openQueueObserver(server.amqpUrl)
  log = recordingLog()
  meters = recordingMetrics()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await observer.close()
  await server.close()
})

async function open(): Promise<Broker> {
  const broker = await openBroker({
    url: server.amqpUrl,
    topology: serviceTopology([]),
    log,
    name: 'test',
    metrics: meters,
  })
  opened.push(broker)
  return broker
}

/** Binds another system's queue to the public exchange. */
async function listen(queueArguments: Record<string, unknown> = {}): Promise<void> {
  await observer.channel.assertQueue(LISTENER, { arguments: { 'x-queue-type': 'quorum', ...queueArguments } })
  await observer.channel.bindQueue(LISTENER, EVENTS_EXCHANGE, '#')
}

const bindingsOfFanout = async () =>
  (await server.management.bindings()).filter(
    ({ source, destination }) => source !== '' && destination === Queue.fanoutEvents,
  )

async function collect(broker: Broker): Promise<readonly string[]> {
  const ids: string[] = []
  await broker.consume({
    queue: Queue.fanoutEvents,
    parse: ({ content }) => parseEvent(content).eventId,
    handle: async (id) => void ids.push(id),
    concurrency: 10,
    recovered: () => Promise.resolve(),
  })
  return ids
}

/** One after the other, so that each has a message of its own. */
const publish = async (broker: Broker, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await broker.publishEvent(sampleEvent())
}

async function publishAsAnotherPlatform(): Promise<string> {
  const event = sampleEvent()
  observer.channel.publish(EVENTS_EXCHANGE, event.eventType, Buffer.from(JSON.stringify(event)), { persistent: true })
  await observer.channel.waitForConfirms()
  return event.eventId
}

test('an event that only another system’s queue accepts does not count as published, and the lost binding is restored', async () => {
  const broker = await open()
  await listen()
  for (const { source, routingKey } of await bindingsOfFanout()) {
    await observer.channel.unbindQueue(Queue.fanoutEvents, source, routingKey)
  }
  const event = sampleEvent()
  await expect(broker.publishEvent(event)).rejects.toThrow('no queue accepts call.status')
  await eventually(() => broker.publishEvent(event))
  expect(await observer.ready(Queue.fanoutEvents)).toBe(1)
})

test('an event reaches fan-out once, and each queue of another system once', async () => {
  const broker = await open()
  await listen()
  await publish(broker, 10)
  expect([await observer.ready(Queue.fanoutEvents), await observer.ready(LISTENER)]).toEqual([10, 10])
})

test('an event of another platform reaches fan-out once, and each queue of another system once', async () => {
  const broker = await open()
  await listen()
  const ids = await collect(broker)
  const id = await publishAsAnotherPlatform()
  await eventually(() => expect(ids).toEqual([id]))
  expect(await observer.ready(LISTENER)).toBe(1)
})

test('a full queue of another system does not delay events', async () => {
  const broker = await open()
  await listen({ 'x-max-length': 1, 'x-overflow': 'reject-publish' })
  for (let n = 0; n < 20; n++) await publish(broker, 1)
  expect(await observer.ready(Queue.fanoutEvents)).toBe(20)
  expect(meters.value('switchhook_publish_failures_total', { reason: 'copy' })).toBeGreaterThan(0)
})

test('a queue that another system binds later gets events soon after its binding, and then every event', async () => {
  const broker = await open()
  await publish(broker, 3)
  await listen()
  const copied = await eventually(async () => {
    await publish(broker, 1)
    const ready = await observer.ready(LISTENER)
    expect(ready).toBeGreaterThan(0)
    return ready
  })
  await publish(broker, 5)
  expect(await observer.ready(LISTENER)).toBe(copied + 5)
})
