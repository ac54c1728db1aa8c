import { Unavailable } from '@switchhook/contracts'
import {
  type BrokerCluster,
  type BrokerNode,
  eventually,
  type Management,
  startBrokerCluster,
} from '@switchhook/testkit'
import { type Broker, openBroker } from './broker.ts'
import { recordingLog } from './testing/recording-log.ts'
import { sampleDelivery } from './testing/samples.ts'
import { dueQueues, Queue, serviceTopology } from './topology/topology.ts'

const WAIT_MS = 300
const TOPOLOGY = serviceTopology([WAIT_MS], 0, 2)
const PATIENT = { timeoutMs: 60_000, intervalMs: 100 }

jest.setTimeout(300_000)

let cluster: BrokerCluster
let broker: Broker

beforeAll(async () => {
  cluster = await startBrokerCluster()
})

afterAll(() => cluster.close())

beforeEach(async () => {
  broker = await openBroker({
    url: cluster.nodes.map(({ amqpUrl }) => amqpUrl),
    topology: TOPOLOGY,
    log: recordingLog(),
    name: 'test',
    confirmTimeoutMs: 3_000,
    stuckAfterMs: 5_000,
    consumerTiming: { firstPauseMs: 50, longestPauseMs: 500, holdMs: 60_000, bugHoldMs: 50 },
  })
})

afterEach(() => broker.close())

const namedNode = (name: string): BrokerNode => {
  const node = cluster.nodes.find((each) => each.name === name)
  if (node === undefined) throw new Error(`${name} is none of ours`)
  return node
}

/** Asked only while all nodes run. */
const management = (): Management => namedNode(cluster.nodes[0]?.name ?? '').management

async function leaderOf(queue: string): Promise<BrokerNode> {
  const { leader } = await eventually(() => management().queue(queue), PATIENT)
  return namedNode(leader)
}

/** The node that publishing or consuming leads to just now. */
async function connectedNode(): Promise<BrokerNode> {
  const [name] = await eventually(async () => {
    const names = await management().connectionNodes()
    expect(names).toHaveLength(2)
    return names
  }, PATIENT)
  return namedNode(name ?? '')
}

/** Publishes as the outbox does, again and again until it is confirmed, for as long as it is not stopped. */
function publishOn(): { readonly confirmed: Set<string>; stop(): Promise<void> } {
  const confirmed = new Set<string>()
  const stopping = new AbortController()
  const publishOne = async (): Promise<void> => {
    const delivery = sampleDelivery()
    await eventually(() => broker.publishDelivery(delivery), PATIENT)
    confirmed.add(delivery.deliveryId)
  }
  const lane = async (): Promise<void> => {
    while (!stopping.signal.aborted) await publishOne()
  }
  const lanes = Promise.all(Array.from({ length: 3 }, lane))
  return {
    confirmed,
    stop: async () => {
      stopping.abort()
      await lanes
    },
  }
}

/** Sends each delivery through a wait once, and notes those that have come back. */
async function deliverOnce(): Promise<Set<string>> {
  const done = new Set<string>()
  for (const queue of dueQueues(2)) {
    await broker.consume({
      queue,
      parse: ({ messageId, headers }) => ({ id: messageId ?? '', wasDead: headers['x-death'] !== undefined }),
      handle: async ({ id, wasDead }) => {
        if (wasDead) done.add(id)
        else await broker.publishRetry({ ...sampleDelivery(), deliveryId: id as never }, WAIT_MS)
      },
      concurrency: 50,
      recovered: () => Promise.resolve(),
    })
  }
  return done
}

/** How many, as a list of thousands helps nobody. */
const allCameBack = (confirmed: ReadonlySet<string>, done: ReadonlySet<string>): Promise<void> =>
  eventually(() => expect([...confirmed].filter((id) => !done.has(id)).length).toBe(0), PATIENT)

test('every queue has a member on each of three nodes', async () => {
  const queues = await eventually(async () => {
    const found = await management().queues()
    expect(found.map(({ name }) => name).toSorted()).toEqual(Object.keys(TOPOLOGY.queues).toSorted())
    return found
  }, PATIENT)
  for (const { name, members } of queues) expect([name, members.length]).toEqual([name, 3])
})

test('when the node of a leader is killed, and then the one that is connected to, all goes on and nothing is lost', async () => {
  const done = await deliverOnce()
  const publishing = publishOn()
  for (const victim of [() => leaderOf(Queue.deliveryDue), connectedNode]) {
    const before = publishing.confirmed.size
    await eventually(() => expect(publishing.confirmed.size).toBeGreaterThan(before + 200), PATIENT)
    const node = await victim()
    const atKill = publishing.confirmed.size
    await node.kill()
    await eventually(() => expect(publishing.confirmed.size).toBeGreaterThan(atKill + 400), PATIENT)
    await node.start()
  }
  await publishing.stop()
  await allCameBack(publishing.confirmed, done)
})

test('with one node of three nothing is confirmed, and with a second one it goes on by itself', async () => {
  const done = await deliverOnce()
  const others = cluster.nodes.slice(1)
  for (const node of others) await node.kill()
  await eventually(() => expect(broker.publishDelivery(sampleDelivery())).rejects.toThrow(Unavailable), PATIENT)
  await others[0]?.start()
  const publishing = publishOn()
  await eventually(() => expect(publishing.confirmed.size).toBeGreaterThan(100), PATIENT)
  await publishing.stop()
  await allCameBack(publishing.confirmed, done)
  await others[1]?.start()
})
