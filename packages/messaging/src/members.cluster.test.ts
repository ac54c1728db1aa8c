import {
  type BrokerCluster,
  canGrowQueues,
  eventually,
  type Management,
  recordingLog,
  startBrokerCluster,
} from '@switchhook/testkit'
import { type Broker, openBroker } from './broker.ts'
import { sampleDelivery } from './testing/samples.ts'
import { serviceTopology } from './topology/topology.ts'

const TOPOLOGY = serviceTopology([300])
const PATIENT = { timeoutMs: 60_000, intervalMs: 200 }

jest.setTimeout(300_000)

let cluster: BrokerCluster
const opened: Broker[] = []

afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()))
  await cluster.close()
})

/** Of three nodes one runs; the others come late. */
const startFirstNode = async (growsItself = false): Promise<void> => {
  cluster = await startBrokerCluster({ running: 1, growsItself })
}

async function open(formedBy: number): Promise<Broker> {
  const broker = await openBroker({
    url: cluster.nodes.map(({ amqpUrl }) => amqpUrl),
    formedBy,
    topology: TOPOLOGY,
    log: recordingLog(),
    name: 'test',
    waitUntilReady: false,
  })
  opened.push(broker)
  return broker
}

const management = (): Management => {
  const [first] = cluster.nodes
  if (first === undefined) throw new Error('the cluster has no node')
  return first.management
}

const everyQueueHas = (members: number): Promise<void> =>
  eventually(async () => {
    const queues = await management().queues()
    const found = Object.fromEntries(queues.map((queue) => [queue.name, queue.members.length]))
    expect(found).toEqual(Object.fromEntries(Object.keys(TOPOLOGY.queues).map((name) => [name, members])))
  }, PATIENT)

test('services that start before two of three nodes declare their queues with three members', async () => {
  await startFirstNode()
  const broker = await open(3)
  const [, second, third] = cluster.nodes
  await second?.start()
  expect(await management().queues()).toEqual([])
  await third?.start()
  await eventually(() => expect(broker.isReady()).toBe(true), PATIENT)
  await everyQueueHas(3)
})

test('queues that were declared on one node grow with rabbitmq-queues grow, while they are used', async () => {
  await startFirstNode()
  const broker = await open(1)
  await broker.ready()
  await everyQueueHas(1)
  for (const node of cluster.nodes.slice(1)) {
    await node.start()
    await cluster.grow(node)
    await broker.publishDelivery(sampleDelivery())
  }
  await everyQueueHas(3)
  await cluster.nodes[0]?.kill()
  await eventually(() => broker.publishDelivery(sampleDelivery()), PATIENT)
})

/** RabbitMQ looks for missing members 10 s after a node has joined. */
const testOfGrowth = canGrowQueues() ? test : test.skip

testOfGrowth('from RabbitMQ 3.13 on, queues of one node get members on the others without a command', async () => {
  await startFirstNode(true)
  const broker = await open(1)
  await broker.ready()
  await everyQueueHas(1)
  for (const node of cluster.nodes.slice(1)) await node.start()
  await everyQueueHas(3)
})
