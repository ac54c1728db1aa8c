import { eventually, type ReceiverScript } from '@switchhook/testkit'
import { aDeliveryTo } from '../testing/deliveries.ts'
import { type Surroundings, useSurroundings } from '../testing/surroundings.ts'

const PATIENT = { timeoutMs: 40_000 }
const EVENTS = 10

let surroundings: Surroundings
useSurroundings((started) => (surroundings = started))

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

test.each<[string, ReceiverScript, number]>([
  ['answers 503', onceBothWorkersPost(), EVENTS + 1],
  ['hangs', { instead: 'hang' }, EVENTS],
])(
  'ten events that are published twice, for an endpoint that %s: later attempts are made once',
  async (_what, answer, firstAttempts) => {
    const broker = await surroundings.openBroker()
    surroundings.receiver.answer('/hook', answer)
    const settings = { DELIVERY_RETRY_WAITS: '1s,1s', DELIVERY_TIMEOUT: '1s', BREAKER_FAILURES: '1000' }
    await Promise.all([surroundings.startWorker(settings), surroundings.startWorker(settings)])
    const subscription = await surroundings.subscribe('/hook')
    const deliveries = Array.from({ length: EVENTS }, () => aDeliveryTo(subscription))
    // Side by side, because RabbitMQ then gives the copies of an event to two workers.
    const copies = deliveries.flatMap((delivery) => [delivery, delivery])
    await Promise.all(copies.map((delivery) => broker.publishDelivery(delivery)))
    const posts = (attempt: string): number =>
      surroundings.receiver.requests('/hook').filter(({ headers }) => headers['x-svc-attempt'] === attempt).length
    const waiting = async (): Promise<number> =>
      (await surroundings.rabbit.management.queues()).reduce((sum, { messages }) => sum + messages, 0)
    await eventually(async () => expect([posts('3') >= EVENTS, await waiting()]).toEqual([true, 0]), PATIENT)
    expect(posts('1')).toBeGreaterThanOrEqual(firstAttempts)
    expect(posts('1')).toBeLessThanOrEqual(2 * EVENTS)
    expect([posts('2'), posts('3')]).toEqual([EVENTS, EVENTS])
  },
)
