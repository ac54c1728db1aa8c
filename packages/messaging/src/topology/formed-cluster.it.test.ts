import { eventually, startTcpProxy, type TcpProxy, type TestBroker, testBroker } from '@switchhook/testkit'
import { type Broker, openBroker } from '../broker.ts'
import { recordingLog } from '../testing/recording.ts'
import { Queue, serviceTopology } from './topology.ts'

/** Two addresses of one broker stand for two nodes: they see the same queues. */
let server: TestBroker
let second: TcpProxy
let log: ReturnType<typeof recordingLog>
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
  second = await startTcpProxy(server.amqpUrl)
  log = recordingLog()
})

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await second.close()
  await server.close()
})

async function open(urls: readonly string[], formedBy: number): Promise<Broker> {
  const broker = await openBroker({
    url: urls,
    formedBy,
    topology: serviceTopology([]),
    log,
    name: 'test',
    waitUntilReady: false,
  })
  opened.push(broker)
  return broker
}

const waitedFor = (): string[] =>
  log.lines.filter(({ message }) => message === 'waiting for RabbitMQ').map(({ fields }) => String(fields['error']))

const PATIENT = { timeoutMs: 20_000 }

test('a new installation declares nothing until enough nodes run', async () => {
  second.refuse()
  const broker = await open([server.amqpUrl, second.url], 2)
  await eventually(() => expect(waitedFor()).not.toEqual([]), PATIENT)
  expect(waitedFor().join()).toMatch(/1 of the 2 nodes in AMQP_URL belong to it and run, and 2 are needed/)
  expect(await server.management.queues()).toEqual([])
  second.accept()
  await eventually(() => expect(broker.isReady()).toBe(true), PATIENT)
  expect((await server.management.queues()).map(({ name }) => name)).toContain(Queue.deliveryDue)
}, 60_000)

test('a node of another cluster does not count', async () => {
  // Another virtual host has queues of its own, as another cluster has.
  const other = await testBroker()
  const broker = await open([server.amqpUrl, other.amqpUrl], 2)
  await eventually(() => expect(waitedFor().length).toBeGreaterThan(0), PATIENT)
  expect(broker.isReady()).toBe(false)
  expect([...(await server.management.queues()), ...(await other.management.queues())]).toEqual([])
  await opened.pop()?.close()
  await other.close()
}, 60_000)

test('an installation whose queues exist does not wait for a missing node', async () => {
  await (await open([server.amqpUrl], 1)).ready()
  second.refuse()
  const broker = await open([server.amqpUrl, second.url], 2)
  await eventually(() => expect(broker.isReady()).toBe(true), PATIENT)
}, 60_000)
