import { randomUUID } from 'node:crypto'
import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publish, type Subscription, signedAfter } from './client.ts'

const PATIENT = { timeoutMs: 30_000 }
const CALLS = ['call.status'] as const

let acme: Client
let receiver: Receiver
const created: Subscription[] = []

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
})

afterEach(async () => {
  for (const { id } of created.splice(0)) await acme.unsubscribe(id)
})

afterAll(() => receiver.close())

async function subscribe(
  path: string,
  filter: NonNullable<Schemas['SubscriptionInput']['filter']>,
): Promise<Subscription> {
  const subscription = await acme.api.subscriptions.create({ url: receiver.url(path), eventTypes: [...CALLS], filter })
  created.push(subscription)
  return subscription
}

/** Publishes an event of an agent in a state, as another platform does. Resolves to its id. */
async function happen(agentUri: string, state: number): Promise<string> {
  const eventId = randomUUID()
  const [eventType] = CALLS
  const occurredAt = new Date().toISOString()
  await publish(
    eventType,
    JSON.stringify({ eventId, eventType, occurredAt, tenant: 'acme', data: { agentUri, state } }),
  )
  return eventId
}

const statesAt = (path: string): number[] =>
  receiver
    .requests(path)
    .map((request) => Number(envelopeOf(request).data['state']))
    .toSorted((a, b) => a - b)

async function explain(eventId: string, { id }: Subscription) {
  const { subscriptions } = await acme.api.events.explain(eventId)
  return subscriptions.find(({ subscriptionId }) => subscriptionId === id)
}

test('a subscription receives what its filter passes, and the explanation names the field and its value', async () => {
  const agentUri = 'sip:e2e-240@acme.example'
  const filter = { 'call.status': { agentUri: [{ prefix: 'sip:e2e-240@' }], state: [3, 7] } }
  const filtered = await subscribe('/filtered', filter)
  const refused = await happen(agentUri, 2)
  await happen('sip:e2e-241@acme.example', 3)
  await happen(agentUri, 3)
  await happen(agentUri, 7)
  await eventually(() => expect(statesAt('/filtered')).toEqual([3, 7]), PATIENT)
  for (const { headers } of receiver.requests('/filtered')) expect(headers['x-svc-sparse']).toBe('true')
  await eventually(async () => {
    expect(await explain(refused, filtered)).toMatchObject({
      verdict: 'filtered',
      explanation: 'Not sent: state was 2; the filter wants 3 or 7.',
      deliveryId: null,
    })
  }, PATIENT)
  // The journal follows a moment later.
  await eventually(async () => {
    const found = await acme.api.filters.preview({ filter })
    expect(found.matched).toBeGreaterThanOrEqual(2)
  })

  // The tenant asks for this event, whatever the filter.
  await acme.api.events.deliver(refused, { subscriptionId: filtered.id })
  await eventually(() => expect(statesAt('/filtered')).toEqual([2, 3, 7]), PATIENT)
})

test('after the answer to a change of the filter, no first attempt is sent that it refuses', async () => {
  const agentUri = 'sip:e2e-242@acme.example'
  const wanted = (states: number[]) => ({ 'call.status': { agentUri: [agentUri], state: states } })
  const subscription = await subscribe('/changed', wanted([2, 7]))
  // A slow endpoint, so that deliveries wait for their turn while the filter changes.
  receiver.answer('/changed', { delayMs: 500 })
  const happening = Promise.all(Array.from({ length: 120 }, () => happen(agentUri, 2)))
  await receiver.waitFor(1, '/changed', PATIENT)
  await acme.api.subscriptions.change(subscription.id, { filter: wanted([7]) })
  const answeredAt = Date.now()
  await happening
  await happen(agentUri, 7)
  await eventually(() => expect(statesAt('/changed')).toContain(7), PATIENT)
  // On a busy machine some attempts time out, and their retries keep their schedule.
  const late = signedAfter(answeredAt, receiver.requests('/changed'))
    .filter((request) => request.headers['x-svc-attempt'] === '1')
    .filter((request) => envelopeOf(request).data['state'] === 2)
  expect(late).toEqual([])
  expect(statesAt('/changed').length).toBeLessThan(121)
})
