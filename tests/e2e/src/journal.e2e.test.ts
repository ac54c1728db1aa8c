import { randomUUID } from 'node:crypto'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

interface StreamedEvent {
  readonly event: string
  readonly id: string | undefined
  readonly data: Readonly<Record<string, unknown>>
}

const PATIENT = { timeoutMs: 30_000 }

let acme: Client
let other: Client
let receiver: Receiver
const created: Subscription[] = []

beforeAll(async () => {
  ;[acme, other, receiver] = await Promise.all([openClient('acme', 0), openClient('acme', 1), startReceiver()])
})

afterEach(async () => {
  for (const { id } of created.splice(0)) await acme.request('DELETE', `/webhooks/subscriptions/${id}`)
})

afterAll(() => receiver.close())

async function subscribe(path: string): Promise<Subscription> {
  const subscription = await acme.subscribe(receiver.url(path))
  created.push(subscription)
  return subscription
}

async function publish(): Promise<string> {
  const eventId = randomUUID()
  await publishEvent({ eventId })
  return eventId
}

/** Follows the live stream, as a browser does. */
async function follow(client: Client, query: string, lastId?: string) {
  const response = await client.open(
    `/webhooks/stream${query}`,
    lastId === undefined ? {} : { 'last-event-id': lastId },
  )
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  const events: StreamedEvent[] = []
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const read = async (): Promise<void> => {
    for (let rest = ''; ; ) {
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
        const data = fields.get('data')
        if (data === undefined) continue
        events.push({ event: fields.get('event') ?? '', id: fields.get('id'), data: JSON.parse(data) as {} })
      }
    }
  }
  void read().catch(() => {})
  return { events, close: async () => await reader?.cancel() }
}

test('an event and its attempt appear in the live stream, and a client resumes at another replica', async () => {
  const subscription = await subscribe('/live')
  receiver.answer('/live', { status: 503 })
  const stream = await follow(acme, `?subscriptionId=${subscription.id}`)
  const first = await publish()
  const [event, attempt] = await eventually(() => {
    const found = ['event', 'attempt'].map((name) => stream.events.find((each) => each.event === name))
    expect(found).toEqual([expect.anything(), expect.anything()])
    return found
  }, PATIENT)
  expect(event).toMatchObject({
    id: expect.stringMatching(/^\d+-\d+$/),
    data: { eventId: first, eventType: 'call.status', data: expect.any(Object), subscriptions: [subscription.id] },
  })
  expect(attempt?.data).toMatchObject({
    eventId: first,
    subscriptionId: subscription.id,
    attempt: 1,
    outcome: 'answered',
    status: 503,
    state: 'waiting',
  })
  await stream.close()

  const missed = [await publish(), await publish()]
  await eventually(async () => {
    const { status } = await acme.request('GET', `/webhooks/events/${missed[1] ?? ''}`)
    expect(status).toBe(200)
  }, PATIENT)
  const resumed = await follow(other, `?subscriptionId=${subscription.id}`, event?.id)
  const last = await publish()
  await eventually(() => {
    const seen = resumed.events.filter(({ event: name }) => name === 'event').map(({ data }) => data['eventId'])
    // Events that happen together can appear in any order.
    expect(seen).toHaveLength(3)
    expect(new Set(seen)).toEqual(new Set([...missed, last]))
  }, PATIENT)
  expect(resumed.events.some(({ event: name }) => name === 'gap')).toBe(false)
  await resumed.close()
})

test('an acknowledged delivery is sent again, and an event is sent to a subscription that came later', async () => {
  const subscription = await subscribe('/acknowledged')
  const eventId = await publish()
  const [request] = await receiver.waitFor(1, '/acknowledged')
  const deliveryId = String(request?.headers['x-svc-delivery'])
  await eventually(async () => {
    const { body } = await acme.request<{
      data: unknown
      subscriptions: { subscriptionId: string; verdict: string }[]
    }>('GET', `/webhooks/events/${eventId}`)
    expect(body.data).toEqual(envelopeOf(request).data)
    const found = body.subscriptions.find(({ subscriptionId }) => subscriptionId === subscription.id)
    expect(found).toMatchObject({ verdict: 'delivered' })
  }, PATIENT)
  expect((await acme.request('POST', `/webhooks/deliveries/${deliveryId}/redeliver`)).status).toBe(202)
  const [, again] = await receiver.waitFor(2, '/acknowledged')
  expect(again?.headers['x-svc-attempt']).toBe('2')
  expect(again?.body.equals(request?.body ?? Buffer.of())).toBe(true)

  // It does not even ask for the type of the event.
  const { body: later } = await acme.request<Subscription>('POST', '/webhooks/subscriptions', {
    url: receiver.url('/later'),
    eventTypes: ['agent.status'],
  })
  created.push(later)
  const sent = await acme.request('POST', `/webhooks/events/${eventId}/deliver`, { subscriptionId: later.id })
  expect([sent.status, sent.body]).toMatchObject([202, { eventId, subscriptionId: later.id, state: 'pending' }])
  const [delivered] = await receiver.waitFor(1, '/later')
  expect(envelopeOf(delivered).data).toEqual(envelopeOf(request).data)
})

test('a subscription that came later gets the events of a window', async () => {
  const from = new Date().toISOString()
  const events = [await publish(), await publish(), await publish()]
  await eventually(async () => {
    for (const eventId of events) expect((await acme.request('GET', `/webhooks/events/${eventId}`)).status).toBe(200)
  }, PATIENT)
  const subscription = await subscribe('/backfilled')
  const path = `/webhooks/subscriptions/${subscription.id}/backfill`
  const window = { from, eventTypes: ['call.status'] }
  const count = await eventually(async () => {
    const { status, body } = await acme.request<{ count: number }>('POST', path, { ...window, dryRun: true })
    expect([status, body.count >= events.length]).toEqual([200, true])
    return body.count
  }, PATIENT)
  expect((await acme.request('POST', path, window)).status).toBe(202)
  await eventually(async () => {
    const { body } = await acme.request<{ items: object[] }>('GET', '/webhooks/recoveries?limit=1')
    expect(body.items).toMatchObject([{ kind: 'backfill', state: 'done', sent: count }])
  }, PATIENT)
  const received = await receiver.waitFor(count, '/backfilled')
  const ids = received.map(({ headers }) => headers['x-svc-event-id'])
  expect(ids).toEqual(expect.arrayContaining(events))
})
