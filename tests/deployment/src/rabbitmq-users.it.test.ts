import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '@switchhook/chart'
import { newEventId, serialiseEvent } from '@switchhook/contracts'
import {
  BROKER_USERS,
  backlogQueue,
  DELIVERY_EXCHANGE,
  EVENT_PACKET,
  EVENTS_EXCHANGE,
  laneQueues,
  openBroker,
  openQuarantine,
  packEvents,
  Queue,
  serviceTopology,
} from '@switchhook/messaging'
import { createSubscriptionStore, openRedis } from '@switchhook/store'
import {
  aSubscription,
  eventually,
  managementEnvironment,
  type Receiver,
  type ServiceProcess,
  silentLog,
  startReceiver,
  startServiceProcess,
  startTcpProxy,
  type TcpProxy,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
  unverified,
} from '@switchhook/testkit'
import { type Channel, type ChannelModel, connect } from 'amqplib'
import { mountConfigMap } from './mounted-scripts.ts'

const SERVICES = {
  api: { DEPLOYMENT: 'on-premise', TRUSTED_NETWORKS: '127.0.0.0/8', ALLOWED_HOSTS: '127.0.0.1', API_PORT: '0' },
  fanout: {},
  'delivery-worker': { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', DELIVERY_RETRY_WAITS: '10ms,10ms' },
}
type Service = keyof typeof SERVICES
const NAMES = Object.keys(SERVICES) as Service[]

/** Users belong to the whole broker, which other tests share. */
const PREFIX = `test-${randomUUID()}-`
const PASSWORD = 'p@ss/w:rd'

let server: TestBroker
let redis: TestRedis
let secondNode: TcpProxy
let endpoint: Receiver
let managementUrl: URL
const folders: string[] = []
const running: ServiceProcess[] = []
const connections: ChannelModel[] = []

const urlAs = (user: string, address: string = server.amqpUrl): string => {
  const url = new URL(address)
  url.username = PREFIX + user
  url.password = encodeURIComponent(PASSWORD)
  return url.href
}

/** Runs the chart's script as its Job does. */
async function createUsers(): Promise<readonly string[]> {
  const scripts = mountConfigMap('rabbitmq-users', 'production')
  const passwords = mkdtempSync(join(tmpdir(), 'switchhook-passwords-'))
  folders.push(scripts, passwords)
  for (const name of Object.keys(BROKER_USERS)) writeFileSync(join(passwords, name), `${PASSWORD}\n`)
  const { stdout } = await promisify(execFile)(process.execPath, [join(scripts, 'create-users.mjs')], {
    env: {
      ...managementEnvironment(managementUrl.href),
      USERS: join(scripts, 'users.json'),
      PASSWORDS: passwords,
      PREFIX,
    },
  })
  return stdout.trim().split('\n')
}

/** As in the chart, on a cluster whose nodes must all run first: both addresses are those of the one broker. */
const start = async (name: Service): Promise<void> => {
  const service = await startServiceProcess(join(repository, 'services', name, 'src/main.ts'), {
    ...SERVICES[name],
    AMQP_URL: [server.amqpUrl, secondNode.url].map((url) => withoutLogin(url)).join(','),
    AMQP_USERNAME: PREFIX + name,
    AMQP_PASSWORD: PASSWORD,
    AMQP_DECLARE: 'own',
    REDIS_URL: redis.redisUrl,
  })
  running.push(service)
}

function withoutLogin(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}

async function channelAs(user?: string): Promise<Channel> {
  const model = await connect(user === undefined ? server.amqpUrl : urlAs(user))
  connections.push(model)
  model.on('error', () => {})
  const channel = await model.createChannel()
  channel.on('error', () => {})
  return channel
}

/** A refused operation closes its channel, so each gets a channel of its own. Resolves to the code of the refusal. */
async function refusalOf(user: string, operation: (channel: Channel) => Promise<unknown>): Promise<number | undefined> {
  const channel = await channelAs(user)
  try {
    await operation(channel)
    return undefined
  } catch (error) {
    return (error as { code: number }).code
  }
}

beforeAll(async () => {
  ;[server, redis, endpoint] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  secondNode = await startTcpProxy(server.amqpUrl)
  managementUrl = new URL(process.env['TEST_MANAGEMENT_URL'] ?? '')
  managementUrl.pathname = new URL(server.amqpUrl).pathname
  await createUsers()
  // All at the same time: each declares a part of the topology and waits for the others.
  await Promise.all(NAMES.map(start))
})

afterAll(async () => {
  for (const service of running) await service.kill()
  await Promise.all(connections.map((model) => model.close()))
  const authorization = `Basic ${Buffer.from(`${managementUrl.username}:${managementUrl.password}`).toString('base64')}`
  for (const name of Object.keys(BROKER_USERS))
    await fetch(`${managementUrl.origin}/api/users/${PREFIX}${name}`, { method: 'DELETE', headers: { authorization } })
  await Promise.all([server.close(), redis.close(), endpoint.close(), secondNode.close()])
  for (const folder of folders) rmSync(folder, { recursive: true })
})

test('the users can be created again, as after a change of their passwords', async () => {
  expect(await createUsers()).toEqual(Object.keys(BROKER_USERS).map((name) => PREFIX + name))
})

test('a service with the default user works beside them, as during an upgrade', async () => {
  const topology = serviceTopology([10], { others: [...laneQueues(1), backlogQueue(0)] })
  const broker = await openBroker({ url: server.amqpUrl, topology, log: silentLog, name: 'test' })
  expect(broker.isReady()).toBe(true)
  await broker.close()
})

test('a new installation works: a packet of events passes fan-out and the worker, which tries again', async () => {
  const storage = await openRedis({ url: redis.redisUrl, log: silentLog, name: 'test' })
  endpoint.answer('/hook', [{ status: 503 }, { status: 503 }, { status: 204 }])
  await createSubscriptionStore(storage, unverified, {}).create(aSubscription({ url: endpoint.url('/hook') }))
  await storage.close()
  const content = serialiseEvent({
    eventId: newEventId(),
    eventType: 'call.status',
    occurredAt: '2026-11-20T08:30:00.000Z',
    tenant: 'acme',
    data: { state: 3 },
  })
  const admin = await channelAs()
  const packet = packEvents([{ content, eventType: 'call.status' }])
  admin.publish(DELIVERY_EXCHANGE, Queue.eventPackets, packet, { type: EVENT_PACKET })
  const requests = await endpoint.waitFor(3, '/hook', { timeoutMs: 60_000 })
  expect(new Set(requests.map(({ headers }) => headers['x-delivery-id'])).size).toBe(1)
})

test('fan-out moves what it cannot parse to quarantine, and only an operator reads it there', async () => {
  const admin = await channelAs()
  admin.publish(EVENTS_EXCHANGE, 'call.status', Buffer.from('no event'))
  const quarantine = await openQuarantine({ url: urlAs('operator'), name: 'test' })
  await eventually(async () => expect(await quarantine.list(10)).toHaveLength(1))
  await quarantine.close()
  for (const name of [...NAMES, 'monitor'])
    expect([name, await refusalOf(name, (channel) => channel.get(Queue.quarantine))]).toEqual([name, 403])
})

test.each<[Service, readonly string[]]>([
  ['api', [Queue.fanoutEvents, Queue.deliveryDue, Queue.deliveryPackets, 'delivery.wait.10']],
  ['fanout', [Queue.deliveryDue, Queue.deliveryPackets, Queue.receiverChecks, 'delivery.wait.10']],
  ['delivery-worker', [Queue.fanoutEvents, Queue.eventPackets, 'fanout.backlog.0']],
])('%s can neither read, purge nor delete the queues of others', async (name, queues) => {
  for (const queue of queues) {
    const operations = [
      (channel: Channel) => channel.get(queue),
      (channel: Channel) => channel.consume(queue, () => {}),
      (channel: Channel) => channel.purgeQueue(queue),
      (channel: Channel) => channel.deleteQueue(queue),
    ]
    const codes = await Promise.all(operations.map((operation) => refusalOf(name, operation)))
    expect([queue, codes]).toEqual([queue, [403, 403, 403, 403]])
  }
})

test('the monitor counts messages over the HTTP API, as KEDA does; the services do not reach that API', async () => {
  const vhost = managementUrl.pathname.slice(1)
  const query = 'page=1&page_size=500&use_regex=true&pagination=false&name=^delivery\\.(due|packets)'
  const ask = async (user: string): Promise<Response> => {
    const authorization = `Basic ${Buffer.from(`${PREFIX}${user}:${PASSWORD}`).toString('base64')}`
    return await fetch(`${managementUrl.origin}/api/queues/${vhost}?${query}`, { headers: { authorization } })
  }
  const { items } = (await (await ask('monitor')).json()) as { items: readonly { name: string }[] }
  expect(items.map(({ name }) => name).toSorted()).toEqual([
    Queue.deliveryDue,
    Queue.deliveryPackets,
    Queue.yieldingPackets,
  ])
  for (const name of [...NAMES, 'operator']) expect([name, (await ask(name)).status]).toEqual([name, 401])
})
