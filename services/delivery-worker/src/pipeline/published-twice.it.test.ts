import { eventually } from '@switchhook/testkit'
import { aDeliveryTo } from '../testing/deliveries.ts'
import { type Surroundings, startSurroundings } from '../testing/surroundings.ts'

const PATIENT = { timeoutMs: 40_000 }
const EVENTS = 10

let surroundings: Surroundings

beforeEach(async () => {
  surroundings = await startSurroundings()
})

afterEach(async () => {
  await surroundings.close()
})

test.each([
  ['answers 503', { status: 503 }],
  ['hangs', { instead: 'hang' }],
] as const)(
  'ten events that are published twice, for an endpoint that %s: later attempts are made once',
  async (_what, answer) => {
    const broker = await surroundings.openBroker()
    surroundings.receiver.answer('/hook', answer)
    const settings = { DELIVERY_RETRY_WAITS: '1s,1s', DELIVERY_TIMEOUT: '500ms', BREAKER_FAILURES: '1000' }
    await Promise.all([surroundings.startWorker(settings), surroundings.startWorker(settings)])
    const subscription = await surroundings.subscribe('/hook')
    const deliveries = Array.from({ length: EVENTS }, () => aDeliveryTo(subscription))
    await Promise.all([...deliveries, ...deliveries].map((delivery) => broker.publishDelivery(delivery)))
    const posts = (attempt: string): number =>
      surroundings.receiver.requests('/hook').filter(({ headers }) => headers['x-svc-attempt'] === attempt).length
    const waiting = async (): Promise<number> =>
      (await surroundings.rabbit.management.queues()).reduce((sum, { messages }) => sum + messages, 0)
    await eventually(async () => expect([posts('3') >= EVENTS, await waiting()]).toEqual([true, 0]), PATIENT)
    expect(posts('1')).toBeLessThanOrEqual(2 * EVENTS)
    expect([posts('2'), posts('3')]).toEqual([EVENTS, EVENTS])
  },
)
