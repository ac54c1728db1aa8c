import { newEventId, type Subscription } from '@switchhook/contracts'
import { useWorkerSurroundings, type WorkerSurroundings } from '@switchhook/servicekit'
import { newWebhookSecret, openVault, subscriptionSecret } from '@switchhook/signing'
import { createCheckStore, createSubscriptionStore } from '@switchhook/store'
import {
  aSubscription,
  eventually,
  type ReceiverScript,
  silentLog,
  unverified,
  watchReadingDelay,
} from '@switchhook/testkit'

let surroundings: WorkerSurroundings
useWorkerSurroundings((started) => (surroundings = started))

const ANSWER_MS = 60
const vault = openVault({ SECRET_KEYS: undefined }, silentLog)

test('a check keeps the limits of its subscription', async () => {
  const { receiver, redis, openBroker, startWorker } = surroundings
  await startWorker()
  const broker = await openBroker()
  const readingDelay = watchReadingDelay()
  const begunOf = async (path: string, limits: Partial<Subscription>, answer: ReceiverScript): Promise<number[]> => {
    receiver.answer(path, answer)
    const url = receiver.url(path)
    const unsigned = aSubscription({ url, ...limits })
    const { tenant, id } = unsigned
    const secret = vault.seal(newWebhookSecret(), subscriptionSecret(tenant, id))
    await createSubscriptionStore(redis, unverified, {}).create({
      ...unsigned,
      signing: { id: '1', secret, since: new Date(0).toISOString(), former: [] },
    })
    const checkId = newEventId()
    const expiresAt = new Date(Date.now() + 30_000).toISOString()
    await broker.publishCheck({ checkId, subscriptionId: id, tenant, eventType: 'call.status', expiresAt })
    const checks = createCheckStore(redis)
    await eventually(async () => expect(await checks.take(checkId)).toHaveProperty('duplicate.status', 204))
    return receiver.requests(path).map(({ receivedAt }) => receivedAt)
  }
  // Without limits, the three that follow the first are in flight together: none is answered before all have arrived.
  const free = await begunOf('/free', {}, async (_request, at) => {
    if (at > 0) await receiver.waitFor(4, '/free')
    return {}
  })
  const [oneInFlight, twoPerSecond] = await Promise.all([
    begunOf('/one-in-flight', { maxInFlight: 1 }, { delayMs: ANSWER_MS }),
    begunOf('/two-per-second', { maxPerSecond: 2 }, { delayMs: ANSWER_MS }),
  ])
  const gaps = (times: number[], over: number) => times.slice(over).map((time, i) => time - (times[i] ?? 0))
  expect([free, oneInFlight, twoPerSecond].map(({ length }) => length)).toEqual([4, 4, 4])
  expect(Math.min(...gaps(oneInFlight, 1))).toBeGreaterThanOrEqual(ANSWER_MS - 5)
  expect(Math.min(...gaps(twoPerSecond, 2))).toBeGreaterThanOrEqual(1_000 - readingDelay.maxMs())
  readingDelay.stop()
}, 60_000)
