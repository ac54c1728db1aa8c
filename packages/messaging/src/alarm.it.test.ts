import { Unavailable } from '@switchhook/contracts'
import { answerWithin } from '@switchhook/runtime'
import {
  brokerAlarm,
  eventually,
  openQueueObserver,
  type QueueObserver,
  recordingLog,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { type Broker, openBroker } from './broker.ts'
import { publishEvents, sampleDelivery, sampleEvent } from './testing/samples.ts'
import { Queue, serviceTopology } from './topology/topology.ts'

const alarm = brokerAlarm()
const whenOurs = alarm === undefined ? describe.skip : describe

let server: TestBroker
let observer: QueueObserver
let broker: Broker

/** Longer than any of these tests: an earlier rejection did not wait for the confirm. */
const CONFIRM_TIMEOUT_MS = 30_000

beforeEach(async () => {
  server = await testBroker()
  observer = await openQueueObserver(server.amqpUrl)
  broker = await openBroker({
    url: server.amqpUrl,
    topology: serviceTopology([100]),
    log: recordingLog(),
    name: 'test',
    confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
    consumerTiming: { firstPauseMs: 20, longestPauseMs: 50, retryForMs: 60_000, bugDelayMs: 5 },
  })
})

afterEach(async () => {
  await alarm?.clear()
  await broker.close()
  await observer.close()
  await server.close()
})

const isRejected = (publishing: Promise<void>): Promise<void> =>
  expect(answerWithin(CONFIRM_TIMEOUT_MS / 2, publishing, 'the publish waits for its confirm')).rejects.toThrow(
    Unavailable,
  )

whenOurs('while the broker that this run has started has an alarm', () => {
  test.each(['memory', 'disk'] as const)(
    'for lack of %s, publishes reject immediately, and are accepted again as soon as it ends',
    async (kind) => {
      await alarm?.raise(kind)
      // The broker notifies a connection of the alarm only when it publishes. This publish rejects without its confirm.
      await isRejected(broker.publishEvent(sampleEvent()))
      expect(broker.isReady()).toBe(false)
      await isRejected(broker.publishEvent(sampleEvent()))
      const ready = broker.ready()
      await alarm?.clear()
      await ready
      await broker.publishEvent(sampleEvent())
      // If the first message was sent before the notification, it arrives late, and its publish was rejected.
      await eventually(async () => expect([1, 2]).toContain(await observer.ready(Queue.fanoutEvents)))
    },
  )

  test('messages in flight can be acknowledged, and messages to be published wait and are not lost', async () => {
    const events = Array.from({ length: 20 }, () => sampleEvent())
    await publishEvents(broker, events)
    const raised = Promise.withResolvers<void>()
    const needsPublishing = new Set<string>()
    const acked: string[] = []
    const consumer = await broker.consume({
      queue: Queue.fanoutEvents,
      parse: ({ messageId }) => messageId ?? '',
      handle: async (id) => {
        await raised.promise
        if (needsPublishing.has(id)) await broker.publishDelivery(sampleDelivery())
        acked.push(id)
      },
      concurrency: 100,
      recovered: () => Promise.resolve(),
    })
    for (const { eventId } of events.slice(0, 10)) needsPublishing.add(eventId)
    await eventually(async () => expect(await observer.ready(Queue.fanoutEvents)).toBe(0))
    await alarm?.raise('memory')
    raised.resolve()
    await eventually(() => expect(acked).toHaveLength(10))
    await eventually(() => expect(consumer.inFlight()).toBe(10))
    await alarm?.clear()
    await eventually(() => expect(new Set(acked).size).toBe(20))
    // Ten, and perhaps duplicates of those that were already sent when the alarm began.
    expect(await observer.ready(Queue.deliveryDue)).toBeGreaterThanOrEqual(10)
    await consumer.drain()
    expect(await observer.ready(Queue.fanoutEvents)).toBe(0)
  })
})
