import { randomUUID } from 'node:crypto'
import type { InstallationId, Subscription } from '@switchhook/contracts'
import { type Broker, Queue } from '@switchhook/messaging'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { createDeliveryArchive, createInstallationStore } from '@switchhook/store'
import { eventually, type ServiceProcess } from '@switchhook/testkit'

const PATIENT = { timeoutMs: 20_000 }

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

/** @param waits the retry schedule */
const startWorker = (waits: string): Promise<ServiceProcess> =>
  surroundings.startWorker({ BREAKER_FAILURES: '1000', DELIVERY_RETRY_WAITS: waits })

const publisherOf = (installation?: InstallationId): Promise<Broker> =>
  surroundings.openBroker(installation === undefined ? {} : { installation })

const idInRedis = async (): Promise<InstallationId> => {
  const stored = await createInstallationStore(surroundings.redis).read()
  if (stored === undefined) throw new Error('Redis holds no installation')
  return stored.id
}

const subscribe = (): Promise<Subscription> => surroundings.subscribe('/hook')
const attempts = (): unknown[] => surroundings.receiver.requests('/hook').map(({ headers }) => headers['x-svc-attempt'])
const waitingIn = async (queue: string): Promise<number> => (await surroundings.rabbit.management.queue(queue)).messages
const isReady = async (service: ServiceProcess): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${service.healthPort}/readyz`)).ok
const saysPaused = (service: ServiceProcess): void =>
  expect(service.lines().map(({ message }) => message)).toContain('consuming paused')

test('first attempts, with the id or without one, are not withdrawn in a Redis that lost its data; after a restore all are delivered', async () => {
  const service = await startWorker('1s')
  const publishers = [await publisherOf(await idInRedis()), await publisherOf()]
  const subscription = await subscribe()
  await surroundings.redisServer.lose()
  for (const broker of publishers) for (let n = 0; n < 5; n++) await broker.publishDelivery(aDeliveryTo(subscription))
  await eventually(() => saysPaused(service))
  await eventually(async () => expect(await waitingIn(Queue.deliveryDue)).toBe(10), PATIENT)
  expect(await isReady(service)).toBe(false)
  expect(attempts()).toEqual([])
  expect(service.lines().filter(({ level }) => level === 'error')).toHaveLength(1)
  await surroundings.redisServer.restore()
  await eventually(() => expect(attempts()).toHaveLength(10), PATIENT)
  await eventually(async () => expect(await isReady(service)).toBe(true), PATIENT)
})

test('a retry that falls due while the data is lost waits for the restore', async () => {
  surroundings.receiver.answer('/hook', { status: 503 })
  const service = await startWorker('5s')
  await (await publisherOf(await idInRedis())).publishDelivery(aDeliveryTo(await subscribe()))
  await eventually(() => expect(attempts()).toEqual(['1']))
  surroundings.receiver.answer('/hook', { status: 204 })
  await surroundings.redisServer.lose()
  await eventually(() => saysPaused(service))
  expect(attempts()).toEqual(['1'])
  await surroundings.redisServer.restore()
  await eventually(() => expect(attempts()).toEqual(['1', '2']), PATIENT)
})

test('a delivery that is to be parked while the data is lost is parked in the restored Redis, after one POST', async () => {
  surroundings.receiver.answer('/hook', { status: 410, delayMs: 4_000 })
  const service = await startWorker('1h')
  const delivery = aDeliveryTo(await subscribe())
  await (await publisherOf(await idInRedis())).publishDelivery(delivery)
  await eventually(() => expect(attempts()).toEqual(['1']))
  await surroundings.redisServer.lose()
  await eventually(() => saysPaused(service))
  await surroundings.redisServer.restore()
  const archive = createDeliveryArchive(surroundings.redis)
  await eventually(
    async () => expect(await archive.find(delivery.deliveryId)).toMatchObject({ state: 'parked' }),
    PATIENT,
  )
  await eventually(async () => expect(await waitingIn(Queue.deliveryDue)).toBe(0), PATIENT)
  expect(attempts()).toEqual(['1'])
})

test('a delivery of another installation waits until an operator adopts its id; one without an id is delivered', async () => {
  const service = await startWorker('1s')
  const other = randomUUID() as InstallationId
  const subscription = await subscribe()
  await (await publisherOf()).publishDelivery(aDeliveryTo(subscription))
  await eventually(() => expect(attempts()).toHaveLength(1))
  await (await publisherOf(other)).publishDelivery(aDeliveryTo(subscription))
  await eventually(() => saysPaused(service))
  const errors = service.lines().filter(({ level }) => level === 'error')
  expect(errors).toMatchObject([{ message: expect.stringContaining(other), redis: await idInRedis() }])
  expect(attempts()).toHaveLength(1)
  await createInstallationStore(surroundings.redis).decide(other, 'adopted')
  await eventually(() => expect(attempts()).toHaveLength(2), PATIENT)
})

test('a retry carries the id of the installation that publishes it, even if the first attempt carried none', async () => {
  surroundings.receiver.answer('/hook', { status: 503 })
  await startWorker('1h')
  const ids: unknown[] = []
  const broker = await publisherOf()
  await broker.publishDelivery(aDeliveryTo(await subscribe()))
  await broker.consume({
    queue: 'delivery.wait.3600000',
    parse: ({ headers }) => headers['sh-installation'],
    handle: async (id) => void ids.push(id),
    concurrency: 1,
    recovered: () => Promise.resolve(),
  })
  const installation = await idInRedis()
  await eventually(() => expect(ids).toEqual([installation]))
})
