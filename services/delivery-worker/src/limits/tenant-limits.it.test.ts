import type { Delivery } from '@switchhook/contracts'
import { type Broker, Queue } from '@switchhook/messaging'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createDeliveryArchive, createSubscriptionStore } from '@switchhook/store'
import { aSubscription, eventually, unverified } from '@switchhook/testkit'

const PATIENT = { timeoutMs: 30_000 }
const MINUTE_MS = 60_000

let surroundings: WorkerSurroundings
let broker: Broker

useWorkerSurroundings((started) => (surroundings = started))

beforeEach(async () => {
  broker = await surroundings.openBroker()
})

/** Publishes deliveries to a new subscription of the tenant. */
async function publish(tenant: string, path: string, count: number): Promise<Delivery[]> {
  const { redis, receiver } = surroundings
  const subscription = aSubscription({ tenant, url: receiver.url(path) })
  await createSubscriptionStore(redis, unverified, {}).create(subscription)
  const deliveries = Array.from({ length: count }, () => aDeliveryTo(subscription))
  await Promise.all(deliveries.map((delivery) => broker.publishDelivery(delivery)))
  return deliveries
}

const recordsOf = (deliveries: readonly Delivery[]) =>
  Promise.all(deliveries.map(({ deliveryId }) => createDeliveryArchive(surroundings.redis).find(deliveryId)))

/** The states of the deliveries once all are in one of them, in alphabetical order. */
const statesOf = async (deliveries: readonly Delivery[], ...states: readonly string[]) =>
  eventually(async () => {
    const found = (await recordsOf(deliveries)).map((record) => record?.state ?? 'none')
    for (const state of found) expect(states).toContain(state)
    return found.toSorted()
  }, PATIENT)

test('a tenant at its limit of settled deliveries keeps further records for a minute; those of another tenant are kept', async () => {
  await surroundings.startWorker({ SETTLED_LIMIT_PER_TENANT: '3' })
  const [many, few] = [await publish('acme', '/ok', 8), await publish('globex', '/ok', 3)]
  await statesOf([...many, ...few], 'acknowledged')
  const keptMs = (deliveries: readonly Delivery[]) =>
    Promise.all(deliveries.map(({ deliveryId }) => surroundings.redisServer.expiresInMs(`sh:{${deliveryId}}:record`)))
  const inMinutes = async (deliveries: readonly Delivery[]) =>
    (await keptMs(deliveries)).map((ms) => Math.ceil(ms / MINUTE_MS)).toSorted((a, b) => a - b)
  expect(await inMinutes(many)).toEqual([1, 1, 1, 1, 1, 60, 60, 60])
  expect(await inMinutes(few)).toEqual([60, 60, 60])
})

test('a tenant at its limit of waiting deliveries has further ones parked, which can be sent again; another tenant has its retries', async () => {
  const { receiver, rabbit } = surroundings
  receiver.answer('/dead', { status: 503 })
  await surroundings.startWorker({
    WAITING_LIMIT_PER_TENANT: '3',
    DELIVERY_RETRY_WAITS: '1h',
    BREAKER_FAILURES: '1000',
  })
  const [many, few] = [await publish('acme', '/dead', 8), await publish('globex', '/dead', 3)]
  expect(await statesOf(many, 'parked', 'waiting')).toEqual([
    ...Array.from({ length: 5 }, () => 'parked'),
    ...Array.from({ length: 3 }, () => 'waiting'),
  ])
  expect(await statesOf(few, 'parked', 'waiting')).toEqual(['waiting', 'waiting', 'waiting'])
  const parked = (await recordsOf(many)).filter((record) => record?.state === 'parked')
  for (const record of parked)
    expect(record).toMatchObject({ parkedReason: 'exhausted', parkedCause: 'waiting-limit', body: Buffer.from('{}') })
  await eventually(async () => {
    const queues = await rabbit.management.queues()
    const waiting = queues.filter(({ name }) => name.startsWith('delivery.wait'))
    expect(waiting.reduce((sum, { messages }) => sum + messages, 0)).toBe(6)
    expect(queues.find(({ name }) => name === Queue.deliveryDue)?.messages).toBe(0)
  }, PATIENT)
})

test('beside a probe, and in a cool-down, a tenant at its limit has its deliveries parked, and the next one is the probe', async () => {
  const { receiver } = surroundings
  receiver.answer('/dead', { status: 503 })
  const worker = await surroundings.startWorker({
    WAITING_LIMIT_PER_TENANT: '1',
    DELIVERY_RETRY_WAITS: '1h',
    BREAKER_FAILURES: '2',
    BREAKER_COOLDOWN: '1s',
  })
  const dead = await publish('acme', '/dead', 4)
  expect(await statesOf(dead, 'parked', 'waiting')).toEqual(['parked', 'parked', 'parked', 'waiting'])
  await eventually(() => expect(worker.lines().map(({ message }) => message)).toContain('cool-down began'), PATIENT)
  receiver.answer('/dead', { status: 204 })
  const [last] = dead
  if (last === undefined) throw new Error('no delivery')
  // Sent until the cool-down is over: each one that meets it is parked.
  await eventually(
    async () => {
      const { subscriptionId, tenant, url } = last
      const next = aDeliveryTo({ id: subscriptionId, tenant, url })
      await broker.publishDelivery(next)
      expect(await statesOf([next], 'acknowledged', 'parked')).toEqual(['acknowledged'])
    },
    { ...PATIENT, intervalMs: 200 },
  )
})
