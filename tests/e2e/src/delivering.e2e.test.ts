import { type Answer, eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import {
  type Client,
  type Delivery,
  envelopeOf,
  openClient,
  publishEvent,
  type Subscription,
  signedAfter,
} from './client.ts'

/** The retry schedule of the test stack. */
const WAITS_MS = [300, 500, 700]
const ATTEMPTS = WAITS_MS.length + 1

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  acme = await openClient('acme')
})

beforeEach(async () => {
  receiver = await startReceiver()
  subscription = await acme.subscribe(receiver.url('/hook'))
})

afterEach(async () => {
  await acme.unsubscribe(subscription.id)
  await receiver.close()
})

const attemptsOf = (requests: readonly ReceivedRequest[]): number[] =>
  requests.map(({ headers }) => Number(headers['x-svc-attempt']))

const parkedOf = async ({ id }: Subscription) =>
  (await acme.api.subscriptions.deliveries(id, { state: 'parked' }).page()).items

const deliveryOf = (deliveryId: string): Promise<Delivery> => acme.api.deliveries.read(deliveryId)

/** Waits until everything that was published earlier was delivered: a later event never overtakes it. */
async function passTime(): Promise<void> {
  const probe = await startReceiver()
  const { id } = await acme.subscribe(probe.url('/probe'))
  await publishEvent()
  await probe.waitFor(1, '/probe', { timeoutMs: 30_000 })
  await acme.unsubscribe(id)
  await probe.close()
}

test('deliveries to a failing endpoint are retried on the schedule with the same id, the same bytes and a counted attempt', async () => {
  receiver.answer('/hook', [{ status: 500 }, { status: 503 }, { status: 429 }, { status: 200 }])
  await publishEvent()
  const requests = await receiver.waitFor(ATTEMPTS, '/hook')

  expect(attemptsOf(requests)).toEqual([1, 2, 3, 4])
  expect(new Set(requests.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(1)
  expect(new Set(requests.map(({ body }) => body.toString('hex'))).size).toBe(1)
  requests.slice(1).forEach(({ receivedAt }, index) => {
    const gapMs = receivedAt - (requests[index]?.receivedAt ?? 0)
    expect(gapMs).toBeGreaterThanOrEqual((WAITS_MS[index] ?? 0) - 5)
  })
  await eventually(async () => {
    const { state, attempts } = await deliveryOf(envelopeOf(requests[0]).deliveryId)
    expect(state).toBe('acknowledged')
    expect(attempts.map(({ status }) => status)).toEqual([500, 503, 429, 200])
  })
})

test('after the last scheduled attempt the delivery is parked with its full record and not retried', async () => {
  receiver.answer('/hook', { status: 500 })
  const marker = await publishEvent()
  const parked = await eventually(async () => {
    const [delivery] = await parkedOf(subscription)
    if (delivery === undefined) throw new Error('nothing is parked yet')
    return delivery
  })
  expect(receiver.requests('/hook')).toHaveLength(ATTEMPTS)

  const record = await deliveryOf(parked.deliveryId)
  expect(record).toMatchObject({
    state: 'parked',
    parkedReason: 'exhausted',
    envelope: { deliveryId: parked.deliveryId, eventType: 'call.status', tenant: 'acme', data: { marker } },
  })
  expect(record.attempts.map(({ attempt, outcome, status }) => [attempt, outcome, status])).toEqual(
    [1, 2, 3, 4].map((attempt) => [attempt, 'answered', 500]),
  )
  for (const { at, durationMs } of record.attempts) {
    expect(Date.parse(at)).toBeGreaterThan(Date.now() - 60_000)
    expect(durationMs).toBeGreaterThanOrEqual(0)
  }

  // A second delivery through the whole schedule takes longer than any wait that the first could have left.
  await publishEvent()
  await eventually(async () => expect(await parkedOf(subscription)).toHaveLength(2))
  const ofFirst = receiver.requests('/hook').filter((request) => envelopeOf(request).data['marker'] === marker)
  expect(ofFirst).toHaveLength(ATTEMPTS)
})

// The policy decides on each status (`decide.test.ts`); these are one of each kind.
describe('retryable and final answers', () => {
  test.each<[string, Answer]>([
    ['408', { status: 408 }],
    ['502', { status: 502 }],
    ['a connection reset', { instead: 'reset' }],
    ['a timeout', { instead: 'hang' }],
  ])('%s is tried again', async (_name, answer) => {
    receiver.answer('/hook', [answer, { status: 204 }])
    await publishEvent()
    expect(attemptsOf(await receiver.waitFor(2, '/hook'))).toEqual([1, 2])
  })

  test.each([404, 302])('%i is parked immediately', async (status) => {
    receiver.answer('/hook', { status, headers: { location: receiver.url('/elsewhere') } })
    await publishEvent()
    await eventually(async () => {
      const [delivery] = await parkedOf(subscription)
      expect(delivery).toMatchObject({
        parkedReason: 'rejected',
        attempts: [{ attempt: 1, outcome: 'answered', status }],
      })
    })
    expect([receiver.requests('/hook').length, receiver.requests('/elsewhere').length]).toEqual([1, 0])
  })

  test.each([200, 204])('%i acknowledges, regardless of the body', async (status) => {
    receiver.answer('/hook', { status, ...(status !== 204 && { body: '{"error":"please send again"}' }) })
    await publishEvent()
    const [request] = await receiver.waitFor(1, '/hook')
    await eventually(async () => {
      expect((await deliveryOf(envelopeOf(request).deliveryId)).state).toBe('acknowledged')
    })
    expect(receiver.requests('/hook')).toHaveLength(1)
  })

  test('a delivery to an unreachable endpoint is retried and arrives once the endpoint is up', async () => {
    const { port } = receiver
    await receiver.close()
    const marker = await publishEvent()
    const back = await startReceiverOn(port)
    const [request] = await back.waitFor(1, '/hook')
    expect(envelopeOf(request).data).toEqual({ marker })
    await back.close()
  })

  test('a timeout counts as an attempt, and a delivery that was processed anyway arrives twice with one id', async () => {
    receiver.answer('/hook', [{ status: 200, delayMs: 5_000 }, { status: 200 }])
    await publishEvent()
    const [first, second] = await receiver.waitFor(2, '/hook')
    expect(first?.headers['x-svc-delivery']).toBe(second?.headers['x-svc-delivery'])
    await eventually(async () => {
      const { attempts } = await deliveryOf(String(first?.headers['x-svc-delivery']))
      expect(attempts.map(({ outcome }) => outcome)).toEqual(['timeout', 'delivered'])
      expect(attempts[0]?.durationMs).toBeGreaterThanOrEqual(3_000)
    })
  })
})

describe('after DELETE', () => {
  test('no new delivery arrives', async () => {
    await acme.unsubscribe(subscription.id)
    await publishEvent()
    await passTime()
    expect(receiver.requests()).toEqual([])
  })

  test('a delivery that has already failed keeps its schedule', async () => {
    receiver.answer('/hook', [{ status: 500 }, { status: 500 }, { status: 204 }])
    await publishEvent()
    await receiver.waitFor(1, '/hook')
    expect((await acme.request('DELETE', `/webhooks/subscriptions/${subscription.id}`)).status).toBe(204)
    expect(attemptsOf(await receiver.waitFor(3, '/hook'))).toEqual([1, 2, 3])
  })

  test('a 410 ends the remaining retries', async () => {
    receiver.answer('/hook', [{ status: 500 }, { status: 410 }])
    await publishEvent()
    const [first] = await receiver.waitFor(1, '/hook')
    await acme.unsubscribe(subscription.id)
    const deliveryId = envelopeOf(first).deliveryId
    await eventually(async () => {
      expect(await deliveryOf(deliveryId)).toMatchObject({ state: 'parked', parkedReason: 'rejected' })
    })
    await expect(acme.api.deliveries.redeliver(deliveryId)).rejects.toMatchObject({ code: 'subscription-deleted' })
  })
})

describe('while many first attempts are queued', () => {
  const QUEUED = 80

  test.each<[string, string, object | undefined]>([
    ['a DELETE', 'DELETE', undefined],
    ['a PATCH that disables', 'PATCH', { enabled: false }],
    ['a PATCH that removes their event type', 'PATCH', { eventTypes: ['agent.status'] }],
  ])('none arrives after the answer to %s', async (_name, method, body) => {
    receiver.answer('/hook', { status: 204, delayMs: 400 })
    await Promise.all(Array.from({ length: QUEUED }, () => publishEvent()))
    await receiver.waitFor(1, '/hook')
    const { status } = await acme.request(method, `/webhooks/subscriptions/${subscription.id}`, body)
    const answeredAt = Date.now()
    expect(status).toBeLessThan(300)
    // By then every running attempt (400 ms) has ended, because the next delivery passes through all queues.
    await passTime()
    await eventually(async () => {
      const list = `/webhooks/subscriptions/${subscription.id}/deliveries?state=pending`
      const { status, body } = await acme.request<{ items: readonly Delivery[] }>('GET', list)
      expect(status === 404 || body.items.length === 0).toBe(true)
    })
    // A first attempt that exceeded its deadline on a busy machine keeps its schedule, so its retry may still arrive.
    const firsts = receiver.requests('/hook').filter(({ headers }) => headers['x-svc-attempt'] === '1')
    expect(signedAfter(answeredAt, firsts)).toEqual([])
    expect(firsts.length).toBeLessThan(QUEUED)
  })

  test('the remaining event types are still delivered', async () => {
    await acme.api.subscriptions.change(subscription.id, { eventTypes: ['agent.status'] })
    await publishEvent()
    const marker = await publishEvent({ eventType: 'agent.status' })
    const [request] = await receiver.waitFor(1, '/hook')
    expect(envelopeOf(request).data).toEqual({ marker })
  })
})

describe('a disabled subscription', () => {
  test('gets nothing until it is enabled again', async () => {
    const { change } = acme.api.subscriptions
    expect(await change(subscription.id, { enabled: false })).toMatchObject({ enabled: false })
    await publishEvent()
    await passTime()
    expect(receiver.requests()).toEqual([])

    await change(subscription.id, { enabled: true })
    const marker = await publishEvent()
    const [request] = await receiver.waitFor(1, '/hook')
    expect(envelopeOf(request).data).toEqual({ marker })
  })
})

test('a subscription stays enabled and gets the next event, even if its endpoint keeps rejecting', async () => {
  receiver.answer('/hook', { status: 410 })
  for (let n = 0; n < 5; n++) await publishEvent()
  await eventually(async () => expect(await parkedOf(subscription)).toHaveLength(5))
  expect(await acme.api.subscriptions.read(subscription.id)).toMatchObject({ enabled: true })
  receiver.answer('/hook', { status: 204 })
  const marker = await publishEvent()
  const requests = await receiver.waitFor(6, '/hook')
  expect(envelopeOf(requests[5]).data).toEqual({ marker })
})

describe('redelivering a parked delivery', () => {
  async function park(): Promise<string> {
    receiver.answer('/hook', { status: 404 })
    await publishEvent()
    return eventually(async () => {
      const [delivery] = await parkedOf(subscription)
      if (delivery === undefined) throw new Error('nothing is parked yet')
      return delivery.deliveryId
    })
  }

  test('restarts the schedule with the same id and bytes, continues the attempt count, and removes it from the parked list', async () => {
    const deliveryId = await park()
    receiver.answer('/hook', [{ status: 503 }, { status: 200 }])
    await acme.api.deliveries.redeliver(deliveryId)
    const requests = await receiver.waitFor(3, '/hook')
    expect(attemptsOf(requests)).toEqual([1, 2, 3])
    expect(new Set(requests.map(({ body }) => body.toString('hex'))).size).toBe(1)
    await eventually(async () => {
      const record = await deliveryOf(deliveryId)
      expect(record.state).toBe('acknowledged')
      expect(record.attempts.map(({ status }) => status)).toEqual([404, 503, 200])
    })
    expect(await parkedOf(subscription)).toEqual([])
    // The journal has the body of a delivery that is not parked.
    await acme.api.deliveries.redeliver(deliveryId)
    const again = await receiver.waitFor(4, '/hook')
    expect(again[3]?.body).toEqual(again[0]?.body)
  })

  test('parks the delivery again after another final failure', async () => {
    const deliveryId = await park()
    await acme.api.deliveries.redeliver(deliveryId)
    await eventually(async () => {
      const record = await deliveryOf(deliveryId)
      expect(record).toMatchObject({ state: 'parked', parkedReason: 'rejected' })
      expect(record.attempts.map(({ attempt }) => attempt)).toEqual([1, 2])
    })
  })
})

test('a hanging subscriber does not delay the deliveries of another one', async () => {
  receiver.answer('/hook', { instead: 'hang' })
  const healthy = await startReceiver()
  const { id } = await acme.subscribe(healthy.url())
  for (let n = 0; n < 20; n++) await publishEvent()
  const requests = await healthy.waitFor(20)
  expect(attemptsOf(requests)).toEqual(Array(20).fill(1))
  await acme.unsubscribe(id)
  await healthy.close()
})

/** Starts a receiver on the port of an earlier one. */
async function startReceiverOn(port: number): Promise<Receiver> {
  return eventually(() => startReceiver({}, { port }))
}
