import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'
import { bringUp, end } from './stack.ts'

type Recovery = Schemas['Recovery']

const EVENTS = 12

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  // The second replica, because the test kills the first.
  acme = await openClient('acme', 1)
})

beforeEach(async () => {
  receiver = await startReceiver()
  subscription = await acme.subscribe(receiver.url('/hook'))
})

afterEach(async () => {
  await acme.unsubscribe(subscription.id)
  await receiver.close()
})

const parked = async () => (await acme.api.subscriptions.deliveries(subscription.id, { limit: 100 }).page()).items

/** Publishes events that the endpoint rejects, and waits until all are parked. */
async function parkSome(count: number): Promise<string[]> {
  receiver.answer('/hook', { status: 400 })
  const markers = await Promise.all(Array.from({ length: count }, () => publishEvent()))
  await eventually(async () => expect(await parked()).toHaveLength(count))
  return markers
}

const recover = (): Promise<Recovery> => acme.api.subscriptions.recover(subscription.id, {})

const until = (id: string, state: string): Promise<Recovery> =>
  eventually(
    async () => {
      const recovery = await acme.api.recoveries.read(id)
      expect(recovery.state).toBe(state)
      return recovery
    },
    { timeoutMs: 60_000 },
  )

test('a recovery sends everything again, slowly at first, even if its api replica is killed', async () => {
  const markers = await parkSome(EVENTS)
  const before = receiver.requests('/hook').length
  const again = () => receiver.requests('/hook').slice(before)
  receiver.answer('/hook', { status: 204 })

  const preview = await acme.api.subscriptions.previewRecovery(subscription.id, {})
  expect(preview).toMatchObject({ count: EVENTS })
  const { recoveryId, found } = await recover()
  expect(found).toBe(EVENTS)
  await eventually(() => expect(again().length).toBeGreaterThan(1))
  try {
    await end('api-1', 'SIGKILL')
    const done = await until(recoveryId, 'done')
    expect(done).toMatchObject({ found: EVENTS, sent: EVENTS, skipped: 0, failed: 0, remaining: 0 })
  } finally {
    await bringUp()
  }

  await eventually(async () => {
    const got = again().map((request) => envelopeOf(request).data['marker'])
    expect(new Set(got)).toEqual(new Set(markers))
  })
  expect(await parked()).toEqual([])
  for (const { headers } of again()) expect(headers['x-svc-attempt']).toBe('2')
  // At first one per second, so two seconds lie between the first and the third.
  const times = again().map(({ receivedAt }) => receivedAt)
  expect((times.at(2) ?? 0) - (times.at(0) ?? 0)).toBeGreaterThan(1_000)
}, 120_000)

test('with recoverRejected, the next 2xx sends again what was rejected, each delivery once; without it, nothing', async () => {
  const without = await acme.subscribe(receiver.url('/without'))
  const settings = { recoverRejected: true }
  expect(await acme.api.subscriptions.change(subscription.id, settings)).toMatchObject(settings)
  expect(without.recoverRejected).toBe(false)
  receiver.answer('/without', { status: 404 })
  receiver.answer('/hook', { status: 404 })
  const markers = await Promise.all(Array.from({ length: 5 }, () => publishEvent()))
  const rejected = await eventually(async () => {
    const { items } = await acme.api.subscriptions.deliveries(without.id, { limit: 100 }).page()
    expect(items).toHaveLength(markers.length)
    expect(await parked()).toHaveLength(markers.length)
    return parked()
  })
  receiver.answer('/without', { status: 204 })
  receiver.answer('/hook', { status: 204 })
  const later: string[] = []
  // A 2xx within 125 ms of the last rejection may not know of it.
  await eventually(
    async () => {
      later.push(await publishEvent())
      expect((await acme.api.subscriptions.recoveries(subscription.id)).items).toHaveLength(1)
    },
    { intervalMs: 250 },
  )

  const sent = () => receiver.requests('/hook').slice(markers.length)
  await eventually(() => expect(sent()).toHaveLength(markers.length + later.length))
  const marked = sent().map((request) => envelopeOf(request).data['marker'])
  expect(new Set(marked)).toEqual(new Set([...markers, ...later]))
  await eventually(async () => {
    const { items } = await acme.api.subscriptions.recoveries(subscription.id)
    expect(items).toMatchObject([{ state: 'done', startedBy: 'recoverRejected', found: 5, sent: 5 }])
    expect(items).toHaveLength(1)
  })
  const again = sent().filter(({ headers }) => headers['x-svc-attempt'] === '2')
  expect(again).toHaveLength(rejected.length)
  const ids = rejected.map(({ deliveryId }) => deliveryId)
  expect(new Set(again.map(({ headers }) => headers['x-svc-delivery']))).toEqual(new Set<unknown>(ids))
  expect(await parked()).toEqual([])
  await eventually(() => expect(receiver.requests('/without')).toHaveLength(markers.length + later.length))
  expect((await acme.api.subscriptions.recoveries(without.id)).items).toEqual([])
  await acme.unsubscribe(without.id)
}, 60_000)
