import { Unavailable } from '@switchhook/contracts'
import {
  type BrokerCluster,
  type BrokerNode,
  eventually,
  type Management,
  recordingLog,
  startBrokerCluster,
} from '@switchhook/testkit'
import { type Broker, openBroker } from './broker.ts'
import { sampleDelivery } from './testing/samples.ts'
import { dueQueues, Queue, serviceTopology } from './topology/topology.ts'

const WAIT_MS = 300
const TOPOLOGY = serviceTopology([WAIT_MS], { deliveryShards: 2, eventShards: 2 })
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
    consumerTiming: { firstPauseMs: 50, longestPauseMs: 500, retryForMs: 60_000, bugDelayMs: 50 },
  })
})

afterEach(() => broker.close())

const namedNode = (name: string): BrokerNode => {
  const node = cluster.nodes.find((each) => each.name === name)
  if (node === undefined) throw new Error(`no node is named ${name}`)
  return node
}

/** Only valid while all nodes run. */
const management = (): Management => namedNode(cluster.nodes[0]?.name ?? '').management

async function leaderOf(queue: string): Promise<BrokerNode> {
  const { leader } = await eventually(() => management().queue(queue), PATIENT)
  return namedNode(leader)
}

/** The node of the current connection for publishing or consuming. */
async function connectedNode(): Promise<BrokerNode> {
  const [name] = await eventually(async () => {
    const names = await management().connectionNodes()
    expect(names).toHaveLength(2)
    return names
  }, PATIENT)
  return namedNode(name ?? '')
}

/** Like the outbox, publishes each delivery repeatedly until it is confirmed. Runs until it is stopped. */
function keepPublishing(): { readonly confirmed: Set<string>; stop(): Promise<void> } {
  const confirmed = new Set<string>()
  const stopping = new AbortController()
  const publishUntilConfirmed = async (): Promise<void> => {
    const delivery = sampleDelivery()
    await eventually(() => broker.publishDelivery(delivery), PATIENT)
    confirmed.add(delivery.deliveryId)
  }
  const publishUntilStopped = async (): Promise<void> => {
    while (!stopping.signal.aborted) await publishUntilConfirmed()
  }
  const running = Promise.all(Array.from({ length: 3 }, publishUntilStopped))
  return {
    confirmed,
    stop: async () => {
      stopping.abort()
      await running
    },
  }
}

/** Sends each delivery through a wait queue once, and records those that have returned. */
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

/** The number only: a list of thousands is unreadable in a failure. */
const allReturned = (confirmed: ReadonlySet<string>, done: ReadonlySet<string>): Promise<void> =>
  eventually(() => expect([...confirmed].filter((id) => !done.has(id)).length).toBe(0), PATIENT)

test('every queue has a member on each of the three nodes', async () => {
  const queues = await eventually(async () => {
    const found = await management().queues()
    expect(found.map(({ name }) => name).toSorted()).toEqual(Object.keys(TOPOLOGY.queues).toSorted())
    return found
  }, PATIENT)
  for (const { name, members } of queues) expect([name, members.length]).toEqual([name, 3])
})

test('killing the node of a leader, and then the connected node, loses nothing', async () => {
  const done = await deliverOnce()
  const publishing = keepPublishing()
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
  await allReturned(publishing.confirmed, done)
})

test('with one of three nodes nothing is confirmed; with a second one publishing continues', async () => {
  const done = await deliverOnce()
  const others = cluster.nodes.slice(1)
  for (const node of others) await node.kill()
  await eventually(() => expect(broker.publishDelivery(sampleDelivery())).rejects.toThrow(Unavailable), PATIENT)
  await others[0]?.start()
  const publishing = keepPublishing()
  await eventually(() => expect(publishing.confirmed.size).toBeGreaterThan(100), PATIENT)
  await publishing.stop()
  await allReturned(publishing.confirmed, done)
  await others[1]?.start()
})
