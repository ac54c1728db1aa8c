import type { Delivery } from '@switchhook/contracts'
import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { eventually, type ServiceProcess } from '@switchhook/testkit'

const PATIENT = { timeoutMs: 20_000 }

let surroundings: WorkerSurroundings
let worker: ServiceProcess

useWorkerSurroundings((started) => (surroundings = started))

async function startWorker(env: Readonly<Record<string, string>>): Promise<void> {
  // A cool-down would use up slots that the tests count.
  worker = await surroundings.startWorker({ BREAKER_FAILURES: '1000', ...env })
}

const newDelivery = async (path: string): Promise<Delivery> => aDeliveryTo(await surroundings.subscribe(path))

const attemptsAt = (path: string): unknown[] =>
  surroundings.receiver.requests(path).map(({ headers }) => headers['x-svc-attempt'])

test('after a change of the schedule, a waiting delivery keeps its old wait and continues with the new schedule', async () => {
  const broker = await surroundings.openBroker()
  surroundings.receiver.answer('/hook', { status: 503 })
  await startWorker({ DELIVERY_RETRY_WAITS: '3s,1h,1h' })
  const delivery = await newDelivery('/hook')
  await broker.publishDelivery(delivery)
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1']), PATIENT)
  // The worker exits only when its delivery is confirmed in the wait queue.
  await worker.kill('SIGTERM')
  // Slot 1 falls due after the old wait. The wait before slot 2, and the end after it, belong to the new schedule.
  await startWorker({ DELIVERY_RETRY_WAITS: '500ms,200ms' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '2', '3']), PATIENT)
  const [first = 0, second = 0] = surroundings.receiver.requests('/hook').map(({ receivedAt }) => receivedAt)
  expect(second - first).toBeGreaterThanOrEqual(2_900)
  const left = async (): Promise<unknown> =>
    (await surroundings.rabbit.management.queues()).filter(({ messages }) => messages > 0).map(({ name }) => name)
  await eventually(async () => expect(await left()).toEqual([]), PATIENT)
  expect(attemptsAt('/hook')).toHaveLength(3)
})

test('after a change to a schedule too short for its slot, a waiting delivery still gets its scheduled attempt', async () => {
  const broker = await surroundings.openBroker()
  surroundings.receiver.answer('/hook', { status: 503 })
  await startWorker({ DELIVERY_RETRY_WAITS: '1s,1s,1s' })
  await broker.publishDelivery(await newDelivery('/hook'))
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '2', '3']), PATIENT)
  await worker.kill('SIGTERM')
  surroundings.receiver.answer('/hook', { status: 204 })
  await startWorker({ DELIVERY_RETRY_WAITS: 'none' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '2', '3', '4']), PATIENT)
})

test('a new deadline and a new concurrency apply after the restart', async () => {
  const broker = await surroundings.openBroker()
  const slow = { DELIVERY_RETRY_WAITS: '300ms,300ms', SUBSCRIPTION_CONCURRENCY: '1' }
  surroundings.receiver.answer('/hook', { instead: 'hang' })
  await startWorker({ ...slow, DELIVERY_TIMEOUT: '9s' })
  await broker.publishDelivery(await newDelivery('/hook'))
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1']), PATIENT)
  await worker.kill('SIGKILL')
  // The attempt that was cut off is not recorded, so it is made again.
  await startWorker({ ...slow, DELIVERY_TIMEOUT: '300ms', SUBSCRIPTION_CONCURRENCY: '3' })
  await eventually(() => expect(attemptsAt('/hook')).toEqual(['1', '1', '2', '3']), PATIENT)
})

test('after a change to fewer or more shards, every delivery is made, whichever queue it was in', async () => {
  const broker = await surroundings.openBroker({ shards: 4 })
  surroundings.receiver.answer('/hook', { status: 204 })
  const deliveries = await Promise.all(Array.from({ length: 24 }, () => newDelivery('/hook')))
  await Promise.all(deliveries.slice(0, 12).map((delivery) => broker.publishDelivery(delivery)))
  await startWorker({ DELIVERY_SHARDS: '1' })
  await eventually(() => expect(surroundings.receiver.requests('/hook')).toHaveLength(12), PATIENT)
  await worker.kill('SIGTERM')
  await startWorker({ DELIVERY_SHARDS: '6' })
  await Promise.all(deliveries.slice(12).map((delivery) => broker.publishDelivery(delivery)))
  await eventually(() => expect(surroundings.receiver.requests('/hook')).toHaveLength(24), PATIENT)
  const consumed = (await surroundings.rabbit.management.queues()).filter(({ name }) => name.startsWith('delivery.due'))
  expect(consumed).toHaveLength(6)
})
