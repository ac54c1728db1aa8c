import { randomUUID } from 'node:crypto'
import type { StreamMessage } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

const PATIENT = { timeoutMs: 30_000 }

let acme: Client
let other: Client
let receiver: Receiver
const created: Subscription[] = []

beforeAll(async () => {
  ;[acme, other, receiver] = await Promise.all([openClient('acme', 0), openClient('acme', 1), startReceiver()])
})

afterEach(async () => {
  for (const { id } of created.splice(0)) await acme.unsubscribe(id)
})

afterAll(() => receiver.close())

async function subscribe(path: string, eventTypes?: readonly string[]): Promise<Subscription> {
  const subscription = await acme.subscribe(receiver.url(path), eventTypes)
  created.push(subscription)
  return subscription
}

async function publish(): Promise<string> {
  const eventId = randomUUID()
  await publishEvent({ eventId })
  return eventId
}

/** Follows the live stream of a subscription. Resolves once it is connected. */
async function follow(client: Client, subscriptionId: string, after?: string) {
  const messages: StreamMessage[] = []
  const connection = new AbortController()
  await new Promise<void>((live, failed) => {
    const options = { signal: connection.signal, onState: () => live(), ...(after !== undefined && { after }) }
    const read = async (): Promise<void> => {
      for await (const message of client.api.events.stream({ subscriptionId }, options)) messages.push(message)
    }
    read().catch(failed)
  })
  return { messages, close: () => connection.abort() }
}

test('an event and its attempt appear in the live stream, and a client resumes at another replica', async () => {
  const subscription = await subscribe('/live')
  receiver.answer('/live', { status: 503 })
  const stream = await follow(acme, subscription.id)
  const first = await publish()
  const [event, attempt] = await eventually(() => {
    const found = ['event', 'attempt'].map((type) => stream.messages.find((each) => each.type === type))
    expect(found).toEqual([expect.anything(), expect.anything()])
    return found
  }, PATIENT)
  expect(event).toMatchObject({
    place: expect.stringMatching(/^\d+-\d+$/),
    event: {
      eventId: first,
      eventType: 'call.status',
      data: expect.any(Object),
      subscriptions: expect.arrayContaining([subscription.id]),
    },
  })
  expect(attempt).toMatchObject({
    attempt: {
      eventId: first,
      subscriptionId: subscription.id,
      attempt: 1,
      outcome: 'answered',
      status: 503,
      state: 'waiting',
    },
  })
  stream.close()

  const missed = [await publish(), await publish()]
  await eventually(() => acme.api.events.explain(missed[1] ?? ''), PATIENT)
  const resumed = await follow(other, subscription.id, event?.type === 'event' ? event.place : undefined)
  const last = await publish()
  await eventually(() => {
    const seen = resumed.messages.flatMap((each) => (each.type === 'event' ? [each.event.eventId] : []))
    // Events that happen together can appear in any order.
    expect(seen).toHaveLength(3)
    expect(new Set(seen)).toEqual(new Set([...missed, last]))
  }, PATIENT)
  expect(resumed.messages.some(({ type }) => type === 'gap')).toBe(false)
  resumed.close()
})

test('an acknowledged delivery is sent again, and an event is sent to a subscription that came later', async () => {
  const subscription = await subscribe('/acknowledged')
  const eventId = await publish()
  const [request] = await receiver.waitFor(1, '/acknowledged')
  const deliveryId = String(request?.headers['x-svc-delivery'])
  await eventually(async () => {
    const { data, subscriptions } = await acme.api.events.explain(eventId)
    expect(data).toEqual(envelopeOf(request).data)
    const found = subscriptions.find(({ subscriptionId }) => subscriptionId === subscription.id)
    expect(found).toMatchObject({ verdict: 'delivered' })
  }, PATIENT)
  await acme.api.deliveries.redeliver(deliveryId)
  const [, again] = await receiver.waitFor(2, '/acknowledged')
  expect(again?.headers['x-svc-attempt']).toBe('2')
  expect(again?.body.equals(request?.body ?? Buffer.of())).toBe(true)

  // It does not even ask for the type of the event.
  const later = await subscribe('/later', ['agent.status'])
  const sent = await acme.api.events.deliver(eventId, { subscriptionId: later.id })
  expect(sent).toMatchObject({ eventId, subscriptionId: later.id, state: 'pending' })
  const [delivered] = await receiver.waitFor(1, '/later')
  expect(envelopeOf(delivered).data).toEqual(envelopeOf(request).data)
})

test('a subscription that came later gets the events of a window', async () => {
  const from = new Date().toISOString()
  const events = [await publish(), await publish(), await publish()]
  await eventually(async () => {
    for (const eventId of events) await acme.api.events.explain(eventId)
  }, PATIENT)
  const subscription = await subscribe('/backfilled')
  const window = { from, eventTypes: ['call.status' as const] }
  const count = await eventually(async () => {
    const preview = await acme.api.subscriptions.previewBackfill(subscription.id, window)
    expect(preview.count).toBeGreaterThanOrEqual(events.length)
    return preview.count
  }, PATIENT)
  await acme.api.subscriptions.backfill(subscription.id, window)
  await eventually(async () => {
    const { items } = await acme.api.recoveries.list({ limit: 1 }).page()
    expect(items).toMatchObject([{ kind: 'backfill', state: 'done', sent: count }])
  }, PATIENT)
  const received = await receiver.waitFor(count, '/backfilled')
  const ids = received.map(({ headers }) => headers['x-svc-event-id'])
  expect(ids).toEqual(expect.arrayContaining(events))
})
