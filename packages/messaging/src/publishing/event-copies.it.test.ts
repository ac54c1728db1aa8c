import { parseEvent } from '@switchhook/contracts'
import { eventually, type TestBroker, testBroker } from '@switchhook/testkit'
import { type Broker, openBroker } from '../broker.ts'
import { openProbe, type Probe } from '../testing/observer.ts'
import { type RecordingLog, recordingLog } from '../testing/recording-log.ts'
import { type RecordingMeters, recordingMeters } from '../testing/recording-meters.ts'
import { sampleEvent } from '../testing/samples.ts'
import { EVENTS_EXCHANGE, Queue, serviceTopology } from '../topology/topology.ts'

const LISTENER = 'listener'

let server: TestBroker
let probe: Probe
let log: RecordingLog
let meters: RecordingMeters
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  probe = await openProbe(server.amqpUrl)
  log = recordingLog()
  meters = recordingMeters()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await probe.close()
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

/** A queue of others on the public exchange. */
async function listen(queueArguments: Record<string, unknown> = {}): Promise<void> {
  await probe.channel.assertQueue(LISTENER, { arguments: { 'x-queue-type': 'quorum', ...queueArguments } })
  await probe.channel.bindQueue(LISTENER, EVENTS_EXCHANGE, '#')
}

/** As former versions bind it, at each of their connections. */
const bindAsBefore = () => probe.channel.bindQueue(Queue.fanoutEvents, EVENTS_EXCHANGE, '#')

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

const publish = async (broker: Broker, count: number): Promise<readonly string[]> => {
  const events = Array.from({ length: count }, () => sampleEvent())
  await Promise.all(events.map((event) => broker.publishEvent(event)))
  return events.map(({ eventId }) => eventId)
}

async function publishAsOthersDo(): Promise<string> {
  const event = sampleEvent()
  probe.channel.publish(EVENTS_EXCHANGE, event.eventType, Buffer.from(JSON.stringify(event)), { persistent: true })
  await probe.channel.waitForConfirms()
  return event.eventId
}

test('an event that only a queue of others takes does not count as published, and the lost binding comes back', async () => {
  const broker = await open()
  await listen()
  for (const { source, routingKey } of await bindingsOfFanout()) {
    await probe.channel.unbindQueue(Queue.fanoutEvents, source, routingKey)
  }
  const event = sampleEvent()
  await expect(broker.publishEvent(event)).rejects.toThrow('no queue takes call.status')
  await eventually(() => broker.publishEvent(event))
  expect(await probe.ready(Queue.fanoutEvents)).toBe(1)
})

test('an event reaches fan-out once, and each queue of others once', async () => {
  const broker = await open()
  await listen()
  await publish(broker, 10)
  expect([await probe.ready(Queue.fanoutEvents), await probe.ready(LISTENER)]).toEqual([10, 10])
})

test('an event of others reaches fan-out once, and each queue of others once', async () => {
  const broker = await open()
  await listen()
  const ids = await collect(broker)
  const id = await publishAsOthersDo()
  await eventually(() => expect(ids).toEqual([id]))
  expect(await probe.ready(LISTENER)).toBe(1)
})

test('beside a former version that binds fan-out to the public exchange, each event is handled once', async () => {
  await probe.channel.assertExchange(EVENTS_EXCHANGE, 'topic', { durable: true })
  const queueArguments = serviceTopology([]).queues[Queue.fanoutEvents]
  await probe.channel.assertQueue(Queue.fanoutEvents, { durable: true, arguments: queueArguments })
  await bindAsBefore()
  const broker = await open()
  expect((await bindingsOfFanout()).map(({ source }) => source)).toEqual(['switchhook.fanout'])
  await bindAsBefore()
  const ids = await collect(broker)
  const published = [...(await publish(broker, 5)), await publishAsOthersDo()]
  await eventually(async () => expect(await bindingsOfFanout()).toHaveLength(1))
  published.push(...(await publish(broker, 5)))
  await eventually(() => expect(ids).toHaveLength(published.length))
  expect(new Set(ids)).toEqual(new Set(published))
})

test('a queue of others that is full does not hold up events', async () => {
  const broker = await open()
  await listen({ 'x-max-length': 1, 'x-overflow': 'reject-publish' })
  for (let n = 0; n < 20; n++) await publish(broker, 1)
  expect(await probe.ready(Queue.fanoutEvents)).toBe(20)
  expect(meters.value('switchhook_publish_failures_total', { reason: 'copy' })).toBeGreaterThan(0)
})
