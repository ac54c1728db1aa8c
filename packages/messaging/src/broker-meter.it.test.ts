import { parseEvent, Unavailable, Unparsable } from '@switchhook/contracts'
import {
  eventually,
  type RecordingMetrics,
  recordingLog,
  recordingMetrics,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { type Broker, type BrokerOptions, openBroker } from './broker.ts'
import { publishEvents, sampleDelivery, sampleEvent } from './testing/samples.ts'
import { Queue, serviceTopology } from './topology/topology.ts'

let server: TestBroker
let proxy: TcpProxy
let meters: RecordingMetrics
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  proxy = await startTcpProxy(server.amqpUrl)
  meters = recordingMetrics()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await proxy.close()
  await server.close()
})

async function open(options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const timing = { firstPauseMs: 20, longestPauseMs: 50, retryForMs: 60_000, bugDelayMs: 5 }
  const common = { url: proxy.url, topology: serviceTopology([]), log: recordingLog(), name: 'test' }
  const broker = await openBroker({ ...common, consumerTiming: timing, metrics: meters, ...options })
  opened.push(broker)
  return broker
}

const failures = (reason: string) => meters.value('switchhook_publish_failures_total', { reason })
const confirms = () => meters.value('switchhook_publish_confirm_seconds')

test('each publish counts once: as confirmed, or as failed with its reason', async () => {
  const broker = await open({ confirmTimeoutMs: 1_500 })
  expect([confirms(), failures('timeout'), failures('unroutable'), failures('not-connected')]).toEqual([0, 0, 0, 0])
  await broker.publishEvent(sampleEvent())
  await broker.publishDelivery(sampleDelivery())
  expect(confirms()).toBe(2)

  await expect(broker.publishRetry(sampleDelivery(), 12_345)).rejects.toThrow('no queue accepts')
  expect(failures('unroutable')).toBe(1)

  proxy.freeze()
  await expect(broker.publishEvent(sampleEvent())).rejects.toThrow('no confirm within 1500 ms')
  expect(failures('timeout')).toBe(1)
  proxy.thaw()
  // The late confirm does not count.
  await broker.publishEvent(sampleEvent())
  expect([confirms(), failures('timeout')]).toEqual([3, 1])

  proxy.freeze()
  const unconfirmed = broker.publishEvent(sampleEvent())
  proxy.refuse()
  await expect(unconfirmed).rejects.toThrow('the connection to RabbitMQ ended before the confirm')
  await eventually(() => expect(broker.isReady()).toBe(false))
  await expect(broker.publishEvent(sampleEvent())).rejects.toThrow(Unavailable)
  expect([confirms(), failures('not-connected'), failures('refused')]).toEqual([3, 2, 0])
})

test('gauges show the messages in flight and the paused consumers', async () => {
  const broker = await open()
  const [away, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isAway = true
  const consumer = await broker.consume({
    queue: Queue.fanoutEvents,
    parse: ({ content }) => parseEvent(content),
    handle: async () => {
      await away.promise
      if (isAway) throw new Unavailable('redis', 'Redis is away')
    },
    concurrency: 5,
    recovered: () => back.promise,
  })
  await publishEvents(
    broker,
    Array.from({ length: 3 }, () => sampleEvent()),
  )
  await eventually(() => expect(meters.value('switchhook_messages_in_hand')).toBe(3))
  expect(meters.value('switchhook_consumers_paused')).toBe(0)

  away.resolve()
  await eventually(() => expect(meters.value('switchhook_consumers_paused')).toBe(1))
  expect(meters.value('switchhook_consumer_pauses_total')).toBe(1)
  isAway = false
  back.resolve()
  await eventually(() => expect(meters.value('switchhook_messages_in_hand')).toBe(0))
  expect(meters.value('switchhook_consumers_paused')).toBe(0)
  await consumer.drain()
})

test('messages moved to quarantine are counted', async () => {
  const broker = await open()
  const consumer = await broker.consume({
    queue: Queue.fanoutEvents,
    parse: () => {
      throw new Unparsable('/eventId is required')
    },
    handle: () => Promise.resolve(),
    concurrency: 5,
    recovered: () => Promise.resolve(),
  })
  await broker.publishEvent(sampleEvent())
  await eventually(() => expect(meters.value('switchhook_quarantined_total')).toBe(1))
  await consumer.drain()
})
