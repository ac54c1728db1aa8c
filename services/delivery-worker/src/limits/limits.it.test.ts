import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Subscription } from '@switchhook/contracts'
import { createHeldStore, createSubscriptionStore } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { aDeliveryTo, aSubscription } from '../testing/deliveries.ts'
import { type Surroundings, useSurroundings } from '../testing/surroundings.ts'

/** Permits of the worker that was killed expire, and so does the lease of what it was passing on. */
const PATIENT = { timeoutMs: 60_000 }
const ANSWER_MS = 60

let surroundings: Surroundings
useSurroundings((started) => (surroundings = started))

/** A busy machine lets the receiver in this process read a request late, so two requests look closer together than they were. */
const readingDelay = monitorEventLoopDelay({ resolution: 5 })
const longestReadingDelayMs = (): number => readingDelay.max / 1e6

/** The shortest time in which one request more than `count` began, in ms. */
function leastTimeBeyond(count: number, path: string): number {
  const times = surroundings.receiver
    .requests(path)
    .map(({ receivedAt }) => receivedAt)
    .toSorted((a, b) => a - b)
  return Math.min(...times.slice(count).map((time, i) => time - (times[i] ?? 0)))
}

test.each<[Partial<Subscription>, count: number, leastMs: () => number]>([
  // Fewer are in flight than the limit if the next one begins only after an answer. Timers and clocks round.
  [{ maxInFlight: 2 }, 2, () => ANSWER_MS - 5],
  // The requests arrive a moment after they were written.
  [{ maxPerSecond: 5 }, 5, () => 1_000 - longestReadingDelayMs()],
])(
  'while workers come and go, a subscription with %j never gets more, and gets everything; its neighbour too',
  async (limits, count, leastMs) => {
    const { receiver, redis } = surroundings
    const subscriptions = createSubscriptionStore(redis)
    const limited = aSubscription({ url: receiver.url('/limited'), ...limits })
    const neighbour = aSubscription({ url: receiver.url('/neighbour') })
    for (const each of [limited, neighbour]) await subscriptions.create(each)
    receiver.answer('/limited', { delayMs: ANSWER_MS })
    const broker = await surroundings.openBroker()
    const env = { DELIVERY_TIMEOUT: '5s', BREAKER_FAILURES: '1000' }
    readingDelay.reset()
    readingDelay.enable()
    const workers = await Promise.all([1, 2, 3].map(() => surroundings.startWorker(env)))
    const sent = Array.from({ length: 30 }, () => aDeliveryTo(limited))
    for (const delivery of sent) await broker.publishDelivery(delivery)
    for (const _ of sent) await broker.publishDelivery(aDeliveryTo(neighbour))
    await eventually(() => expect(receiver.requests('/neighbour')).toHaveLength(sent.length), PATIENT)
    await receiver.waitFor(8, '/limited')
    await workers[0]?.kill('SIGKILL')
    await surroundings.startWorker(env)
    await workers[1]?.kill('SIGTERM')
    const arrived = () => new Set(receiver.requests('/limited').map(({ headers }) => headers['x-svc-delivery']))
    await eventually(() => expect(arrived()).toEqual(new Set(sent.map(({ deliveryId }) => deliveryId))), PATIENT)
    expect(leastTimeBeyond(count, '/limited')).toBeGreaterThanOrEqual(leastMs())
    const held = createHeldStore(redis)
    await eventually(async () => expect(await held.count(limited.id)).toMatchObject({ count: 0, leased: 0 }), PATIENT)
  },
  150_000,
)
