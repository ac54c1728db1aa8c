import { eventually, recordingLog, type TestBroker, testBroker } from '@switchhook/testkit'
import { type Broker, openBroker } from '../broker.ts'
import { declaredBy } from './broker-users.ts'
import { Queue, serviceTopology } from './topology.ts'

let server: TestBroker
const opened: Broker[] = []

beforeEach(async () => {
  server = await testBroker()
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await server.close()
})

async function open(service: string, log = recordingLog()): Promise<Broker> {
  const topology = declaredBy(service, serviceTopology([]))
  const broker = await openBroker({ url: server.amqpUrl, topology, log, name: service, waitUntilReady: false })
  opened.push(broker)
  return broker
}

test('a service declares its own queues and waits for those of another, which waits for it', async () => {
  const log = recordingLog()
  const fanout = await open('fanout', log)
  await eventually(() => expect(log.lines.map(({ message }) => message)).toContain('waiting for RabbitMQ'))
  const declared = async (): Promise<string[]> => (await server.management.queues()).map(({ name }) => name)
  // A binding to a queue of another fails while some declarations are still on their way.
  await eventually(async () => expect(await declared()).toContain(Queue.fanoutEvents))
  expect(await declared()).not.toContain(Queue.deliveryDue)
  expect(fanout.isReady()).toBe(false)

  const worker = await open('delivery-worker')
  await Promise.all([worker.ready(), fanout.ready()])
})
