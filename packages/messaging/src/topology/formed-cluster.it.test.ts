import {
  eventually,
  recordingLog,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  testBroker,
} from '@switchhook/testkit'
import { type Broker, openBroker } from '../broker.ts'
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

/** The queues that were declared, without the mark by which an attempt recognizes the nodes of its cluster. */
const declared = async ({ management }: TestBroker): Promise<string[]> =>
  (await management.queues()).map(({ name }) => name).filter((name) => !name.startsWith('switchhook.formed.'))

const PATIENT = { timeoutMs: 20_000 }

test('a new installation declares nothing until enough nodes run', async () => {
  second.refuse()
  const broker = await open([server.amqpUrl, second.url], 2)
  // An attempt that begins at the address that refuses ends before it counts; the next begins at the other.
  await eventually(
    () => expect(waitedFor().join()).toMatch(/1 of the 2 nodes in AMQP_URL belong to it and run, and 2 are needed/),
    PATIENT,
  )
  expect(await declared(server)).toEqual([])
  second.accept()
  await eventually(() => expect(broker.isReady()).toBe(true), PATIENT)
  expect(await declared(server)).toContain(Queue.deliveryDue)
}, 60_000)

test('a node of another cluster does not count', async () => {
  // Another virtual host has queues of its own, as another cluster has.
  const other = await testBroker()
  const broker = await open([server.amqpUrl, other.amqpUrl], 2)
  await eventually(() => expect(waitedFor().length).toBeGreaterThan(0), PATIENT)
  expect(broker.isReady()).toBe(false)
  expect([...(await declared(server)), ...(await declared(other))]).toEqual([])
  await opened.pop()?.close()
  await other.close()
}, 60_000)

test('an installation whose queues exist does not wait for a missing node', async () => {
  await (await open([server.amqpUrl], 1)).ready()
  second.refuse()
  const broker = await open([server.amqpUrl, second.url], 2)
  await eventually(() => expect(broker.isReady()).toBe(true), PATIENT)
}, 60_000)
