import type { Delivery, Subscription } from '@switchhook/contracts'
import { type Broker, Queue } from '@switchhook/messaging'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createDeliveryArchive } from '@switchhook/store'
import { eventually, type ReceivedRequest } from '@switchhook/testkit'

const PATIENT = { timeoutMs: 60_000 }
/** No retry and no breaker: every POST is a first attempt. */
const SETTINGS = { DELIVERY_RETRY_WAITS: '1h', BREAKER_FAILURES: '1000', DELIVERY_TIMEOUT: '8s', SHUTDOWN_GRACE: '20s' }

let surroundings: WorkerSurroundings
let broker: Broker
let quick: Subscription
let slow: Subscription

useWorkerSurroundings((started) => (surroundings = started))

beforeEach(async () => {
  broker = await surroundings.openBroker()
  ;[quick, slow] = await Promise.all([surroundings.subscribe('/quick'), surroundings.subscribe('/slow')])
})

const deliveriesTo = (subscription: Subscription, count: number): Delivery[] =>
  Array.from({ length: count }, () => aDeliveryTo(subscription))

const stateOf = async ({ deliveryId }: Delivery): Promise<string | undefined> =>
  (await createDeliveryArchive(surroundings.redis).find(deliveryId))?.state

const idsOf = (requests: readonly ReceivedRequest[]): unknown[] =>
  requests.map(({ headers }) => headers['x-svc-delivery'])

/** Messages in all queues, those that a worker holds included. */
const messages = async (): Promise<number> =>
  (await surroundings.rabbit.management.queues()).reduce((sum, queue) => sum + queue.messages, 0)

const messagesIn = async (name: string): Promise<number> => (await surroundings.rabbit.management.queue(name)).messages

test('every member of a packet is POSTed with its own body', async () => {
  await surroundings.startWorker(SETTINGS)
  const deliveries = deliveriesTo(quick, 8).map((delivery, n) => ({
    ...delivery,
    body: Buffer.from(`{ "n": ${n}.0 }\n`),
  }))
  await broker.publishPacket(deliveries, 0)
  const requests = await surroundings.receiver.waitFor(8, '/quick')
  const bodies = new Map(requests.map(({ headers, body }) => [headers['x-svc-delivery'], body.toString()]))
  expect(bodies).toEqual(new Map(deliveries.map(({ deliveryId, body }) => [deliveryId, body.toString()])))
  await eventually(async () => expect(await messages()).toBe(0), PATIENT)
})

describe('members that hang', () => {
  /** The worker receives four packets. */
  const FEW = { ...SETTINGS, DELIVERY_CONCURRENCY: '8' }
  const HANGING = 3

  /** Starts a worker, and resolves once three packets of it wait for one member each, and two further ones have passed. */
  async function leaveHanging() {
    const worker = await surroundings.startWorker(FEW)
    const hanging = deliveriesTo(slow, HANGING)
    const deliveries = deliveriesTo(quick, 4 * HANGING)
    for (const [at, one] of hanging.entries())
      await broker.publishPacket([...deliveries.slice(2 * at, 2 * at + 2), one], 0)
    await surroundings.receiver.waitFor(HANGING, '/slow')
    for (const at of [2 * HANGING, 3 * HANGING]) await broker.publishPacket(deliveries.slice(at, at + HANGING), 0)
    await eventually(async () => {
      expect(await Promise.all(deliveries.map(stateOf))).toEqual(deliveries.map(() => 'acknowledged'))
    })
    return { worker, hanging }
  }

  test('hold their own packets and no other, and have no copies', async () => {
    let answer = (): void => {}
    const answered = new Promise<object>((resolve) => (answer = () => resolve({})))
    surroundings.receiver.answer('/slow', () => answered)
    const { hanging } = await leaveHanging()
    await eventually(
      async () => expect([await messagesIn(Queue.deliveryPackets), await messages()]).toEqual([3, 3]),
      PATIENT,
    )
    answer()
    await eventually(async () => expect(await messages()).toBe(0), PATIENT)
    expect(await Promise.all(hanging.map(stateOf))).toEqual(hanging.map(() => 'acknowledged'))
    expect(idsOf(surroundings.receiver.requests('/slow'))).toHaveLength(HANGING)
  })

  test('are repeated with their packets if the worker dies, and no other member is', async () => {
    surroundings.receiver.answer('/slow', [{ instead: 'hang' }, { instead: 'hang' }, { instead: 'hang' }, {}])
    const { worker, hanging } = await leaveHanging()
    await worker.kill()
    await surroundings.startWorker(FEW)
    await eventually(async () => {
      expect(await Promise.all(hanging.map(stateOf))).toEqual(hanging.map(() => 'acknowledged'))
    }, PATIENT)
    await eventually(async () => expect(await messages()).toBe(0), PATIENT)
    expect(idsOf(surroundings.receiver.requests('/slow'))).toHaveLength(2 * HANGING)
    expect(surroundings.receiver.requests('/quick')).toHaveLength(4 * HANGING)
  })
})

test('an endpoint that was quick and begins to hang leaves packets to the others', async () => {
  const QUICK_ANSWERS = 60
  const PACKETS = 20
  // The worker receives eight packets; the endpoint has earned all turns that there are.
  await surroundings.startWorker({
    ...SETTINGS,
    DELIVERY_TIMEOUT: '60s',
    SHUTDOWN_GRACE: '70s',
    DELIVERY_CONCURRENCY: '16',
    SUBSCRIPTION_CONCURRENCY: '1',
  })
  surroundings.receiver.answer('/slow', (_, index) => (index < QUICK_ANSWERS ? { delayMs: 100 } : { instead: 'hang' }))
  await Promise.all(deliveriesTo(slow, QUICK_ANSWERS).map((delivery) => broker.publishDelivery(delivery)))
  await surroundings.receiver.waitFor(QUICK_ANSWERS, '/slow')
  const others = deliveriesTo(quick, PACKETS)
  await Promise.all(others.map((other) => broker.publishPacket([...deliveriesTo(slow, 1), other], 0)))
  await surroundings.receiver.waitFor(PACKETS, '/quick', { timeoutMs: 20_000 })
})

test('a member that no worker can parse goes to quarantine alone; the others are delivered', async () => {
  await surroundings.startWorker(SETTINGS)
  const [first, broken, last] = deliveriesTo(quick, 3) as [Delivery, Delivery, Delivery]
  const [other, unread, final] = deliveriesTo(quick, 3) as [Delivery, Delivery, Delivery]
  await broker.publishPacket([first, { ...broken, slot: -1 }, last], 0)
  await broker.publishYieldingPacket([other, { ...unread, slot: -1 }, final])
  await eventually(async () => expect(await messagesIn(Queue.quarantine)).toBe(2), PATIENT)
  await eventually(async () => expect(await messages()).toBe(2), PATIENT)
  const delivered = [first, last, other, final].map(({ deliveryId }) => deliveryId)
  expect(new Set(idsOf(surroundings.receiver.requests('/quick')))).toEqual(new Set(delivered))
})

test('a packet that was returned five times is taken apart', async () => {
  const deliveries = deliveriesTo(quick, 2)
  await broker.publishPacket(deliveries, 0)
  let returns = 0
  const failing = await broker.consume({
    queue: Queue.deliveryPackets,
    parse: (message) => message,
    handle: () => Promise.reject(new TypeError(`return ${++returns}`)),
    concurrency: 1,
    recovered: () => Promise.resolve(),
  })
  await eventually(() => expect(returns).toBeGreaterThan(5), PATIENT)
  await failing.drain()
  const worker = await surroundings.startWorker(SETTINGS)
  await eventually(async () => {
    expect(await Promise.all(deliveries.map(stateOf))).toEqual(['acknowledged', 'acknowledged'])
  }, PATIENT)
  const warning = 'a packet was returned too often; publishing its members alone'
  await eventually(() => expect(worker.lines().filter(({ message }) => message === warning)).toHaveLength(1))
  expect(surroundings.receiver.requests('/quick')).toHaveLength(2)
})

test('on SIGTERM a worker finishes the attempts that it has begun, and another gets the rest of the packet', async () => {
  surroundings.receiver.answer('/slow', { delayMs: 5_000 })
  const worker = await surroundings.startWorker({ ...SETTINGS, SUBSCRIPTION_CONCURRENCY: '2' })
  const deliveries = deliveriesTo(slow, 6)
  await broker.publishPacket(deliveries, 0)
  await surroundings.receiver.waitFor(2, '/slow')
  const [exitCode] = await Promise.all([worker.stop(), surroundings.startWorker(SETTINGS)])
  expect(exitCode).toBe(0)
  await eventually(async () => {
    expect(await Promise.all(deliveries.map(stateOf))).toEqual(deliveries.map(() => 'acknowledged'))
  }, PATIENT)
  // The other worker was there while the attempts that had begun were still in progress.
  expect(new Set(idsOf(surroundings.receiver.requests('/slow'))).size).toBe(6)
  expect(surroundings.receiver.requests('/slow')).toHaveLength(6)
})
