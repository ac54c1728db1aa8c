import { aDeliveryTo, useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { eventually, type ReceiverScript } from '@switchhook/testkit'

const PATIENT = { timeoutMs: 40_000 }
const EVENTS = 10

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

/** Answers a first attempt once the same POST of the other worker has arrived, so neither finds the slot settled. */
function onceBothWorkersPost(): ReceiverScript {
  const waiting = new Map<string, () => void>()
  return async ({ headers }) => {
    const id = String(headers['x-svc-delivery'])
    if (headers['x-svc-attempt'] === '1') {
      const other = waiting.get(id)
      other?.()
      if (other === undefined) await new Promise<void>((resolve) => void waiting.set(id, resolve))
    }
    return { status: 503 }
  }
}

const ENDPOINTS: readonly (readonly [path: string, ReceiverScript, firstAttempts: number])[] = [
  ['/answers-503', onceBothWorkersPost(), EVENTS + 1],
  ['/hangs', { instead: 'hang' }, EVENTS],
]

test('of events that are published twice, later attempts are made once, for an endpoint that answers 503 and for one that hangs', async () => {
  const { receiver, rabbit } = surroundings
  const broker = await surroundings.openBroker()
  const settings = { DELIVERY_RETRY_WAITS: '1s,1s', DELIVERY_TIMEOUT: '1s', BREAKER_FAILURES: '1000' }
  await Promise.all([surroundings.startWorker(settings), surroundings.startWorker(settings)])
  for (const [path, answer] of ENDPOINTS) {
    receiver.answer(path, answer)
    const subscription = await surroundings.subscribe(path)
    const deliveries = Array.from({ length: EVENTS }, () => aDeliveryTo(subscription))
    // Side by side, because RabbitMQ then gives the duplicates of an event to two workers.
    const duplicates = deliveries.flatMap((delivery) => [delivery, delivery])
    await Promise.all(duplicates.map((delivery) => broker.publishDelivery(delivery)))
  }
  const posts = (path: string, attempt: string): number =>
    receiver.requests(path).filter(({ headers }) => headers['x-svc-attempt'] === attempt).length
  const waiting = async (): Promise<number> =>
    (await rabbit.management.queues()).reduce((sum, { messages }) => sum + messages, 0)
  await eventually(async () => {
    for (const [path] of ENDPOINTS) expect(posts(path, '3')).toBeGreaterThanOrEqual(EVENTS)
    expect(await waiting()).toBe(0)
  }, PATIENT)
  for (const [path, , firstAttempts] of ENDPOINTS) {
    expect(posts(path, '1')).toBeGreaterThanOrEqual(firstAttempts)
    expect(posts(path, '1')).toBeLessThanOrEqual(2 * EVENTS)
    expect([path, posts(path, '2'), posts(path, '3')]).toEqual([path, EVENTS, EVENTS])
  }
})
