import { eventually, recordingLog, stall, type TestBroker, testBroker } from '@switchhook/testkit'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import { type Broker, openBroker } from '../broker.ts'
import type { Session } from '../link/session.ts'
import { publishEvents, sampleEvent } from '../testing/samples.ts'
import { assertTopology } from '../topology/assert-topology.ts'
import { Queue, serviceTopology } from '../topology/topology.ts'
import { TIMING } from './consume-options.ts'
import { createConsumer } from './consumer.ts'

let server: TestBroker
let model: ChannelModel
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  model = await connect(server.amqpUrl)
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await model.close()
  await server.close()
})

/** A consumer on a real connection, with a way to remove it on the broker alone. */
async function consumeHere(timing = TIMING) {
  const log = recordingLog()
  const failures: Error[] = []
  const channels: Channel[] = []
  const created = async (): Promise<Channel> => {
    const channel = await model.createChannel()
    channels.push(channel)
    return channel
  }
  const session: Session = {
    model: { createChannel: created } as ChannelModel,
    fail: (error) => void failures.push(error),
  }
  await assertTopology(model, serviceTopology([]))
  const consumer = createConsumer(
    {
      queue: Queue.fanoutEvents,
      parse: () => undefined,
      handle: () => Promise.resolve(),
      concurrency: 5,
      recovered: () => Promise.resolve(),
    },
    {
      log,
      publish: () => Promise.resolve(),
      brokerReady: () => Promise.resolve(),
      received: () => 0,
      name: 'here',
      timing,
    },
  )
  await consumer.attach(session)
  return {
    consumer,
    session,
    failures,
    channels,
    /** Problems that the checks have logged. */
    problems: () => log.lines.map(({ fields }) => fields['problem']),
    /**
     * Removes the consumer on the broker; this process is not notified. The queue counts a consumer for a moment after its
     * cancel is confirmed, as long as it holds unacknowledged messages.
     */
    lose: async () => {
      const [channel] = channels
      if (channel === undefined) throw new Error('the consumer has no channel')
      const countConsumers = async () => (await channel.checkQueue(Queue.fanoutEvents)).consumerCount
      const before = await countConsumers()
      await channel.cancel(`here.${Queue.fanoutEvents}.1`)
      await eventually(async () => expect(await countConsumers()).toBe(before - 1))
    },
  }
}

test('a consumer that the broker lost is found missing on a queue without other consumers', async () => {
  const { consumer, session, failures, channels, lose } = await consumeHere()
  for (let n = 0; n < 3; n++) await consumer.check(session)
  expect(failures).toEqual([])
  await lose()
  for (let n = 0; n < 2; n++) await consumer.check(session)
  expect(consumer.isConsuming(session)).toBe(false)
  await consumer.check(session)
  expect(consumer.isConsuming(session)).toBe(true)
  expect([failures, channels.length]).toEqual([[], 2])
})

test('a consumer is not missing when this process stalled during its checks', async () => {
  const timing = { ...TIMING, firstPauseMs: 20, longestPauseMs: 50, retryForMs: 60_000, bugDelayMs: 5, answerMs: 200 }
  const { consumer, session, failures, problems } = await consumeHere(timing)
  for (let n = 0; n < 3; n++) {
    const checking = consumer.check(session)
    await new Promise(setImmediate)
    stall(600)
    await checking
  }
  expect([failures, problems()]).toEqual([[], []])
})

test('a consumer that the broker lost is found missing while another replica is busy', async () => {
  const { consumer, session, failures, problems, lose } = await consumeHere()
  const other = await model.createChannel()
  await other.prefetch(1)
  await other.consume(Queue.fanoutEvents, () => {})
  const broker = await openBroker({
    url: server.amqpUrl,
    topology: serviceTopology([]),
    log: recordingLog(),
    name: 'test',
  })
  opened.push(broker)
  const publish = () =>
    publishEvents(
      broker,
      Array.from({ length: 5 }, () => sampleEvent()),
    )
  await publish()
  for (let n = 0; n < 3; n++) await consumer.check(session)
  expect(failures).toEqual([])
  await lose()
  await publish()
  await eventually(async () => expect((await other.checkQueue(Queue.fanoutEvents)).messageCount).toBeGreaterThan(0))
  for (let n = 0; n < 3; n++) await consumer.check(session)
  expect(problems()).toEqual([expect.stringContaining('has 1 consumers')])
  expect(failures).toEqual([])
})

test('checks do not disturb a busy consumer', async () => {
  const log = recordingLog()
  const broker = await openBroker({
    url: server.amqpUrl,
    topology: serviceTopology([]),
    log,
    name: 'test',
    consumerTiming: { firstPauseMs: 20, longestPauseMs: 50, retryForMs: 60_000, bugDelayMs: 5, checkMs: 250 },
  })
  let handled = 0
  opened.push(broker)
  await broker.consume({
    queue: Queue.fanoutEvents,
    parse: () => undefined,
    handle: async () => void (handled += 1),
    concurrency: 50,
    recovered: () => Promise.resolve(),
  })
  expect(broker.isConsuming()).toBe(true)
  let published = 0
  for (const end = performance.now() + 1_000; performance.now() < end; published += 20) {
    await publishEvents(
      broker,
      Array.from({ length: 20 }, () => sampleEvent()),
    )
  }
  await eventually(() => expect(handled).toBe(published))
  expect(broker.isConsuming()).toBe(true)
  expect(log.count('closing a failed RabbitMQ connection')).toBe(0)
})
