import { randomUUID } from 'node:crypto'
import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, openClient, publishEvent, type Subscription } from './client.ts'

let acme: Client
let receiver: Receiver
const created: Subscription[] = []

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme', 1), startReceiver()])
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

async function explain(eventId: string, subscription: Subscription) {
  const { subscriptions } = await acme.api.events.explain(eventId)
  const found = subscriptions.find(({ subscriptionId }) => subscriptionId === subscription.id)
  if (found === undefined) throw new Error('the subscription is not among those that are explained')
  return found
}

/** For verdicts that last less than a second or two. */
const OFTEN = { intervalMs: 20 }

const expectVerdict = (
  eventId: string,
  subscription: Subscription,
  verdict: string,
  options: { readonly intervalMs?: number } = {},
) =>
  eventually(async () => {
    const found = await explain(eventId, subscription)
    expect(found).toMatchObject({ verdict })
    return found
  }, options)

test('the record of a delivery lists every attempt with the answer of the endpoint', async () => {
  const [well, slow, failing, refusing] = [
    await subscribe('/well'),
    await subscribe('/slow'),
    await subscribe('/failing'),
    await subscribe('/refusing'),
  ]
  receiver.answer('/slow', { delayMs: 2_000 })
  receiver.answer('/failing', { status: 503, body: 'back at noon' })
  receiver.answer('/refusing', { status: 404, body: '{"error":"no such hook","token":"abc"}' })
  const eventId = await publish()
  // The receiver has the id from the POST, which it has not answered yet.
  const readHeld = async () => {
    const [request] = await receiver.waitFor(1, '/slow')
    return acme.api.deliveries.read(String(request?.headers['x-svc-delivery']))
  }
  // All of these states are short.
  const [held, , waiting] = await Promise.all([
    readHeld(),
    expectVerdict(eventId, slow, 'pending', OFTEN),
    expectVerdict(eventId, failing, 'waiting', OFTEN),
  ])
  expect(held).toMatchObject({
    state: 'pending',
    subscriptionId: slow.id,
    eventId,
    url: receiver.url('/slow'),
    attempts: [],
    envelope: null,
  })
  expect(waiting.explanation).toMatch(/^Attempt \d at .+Z was answered with 503\. The next attempt is due/)
  expect(waiting.lastAttempt).toMatchObject({ status: 503, answer: 'back at noon' })
  await expectVerdict(eventId, well, 'delivered')
  const refused = await expectVerdict(eventId, refusing, 'parked')
  expect(refused.lastAttempt?.answer).toBe('{"error":"no such hook","token":"[redacted]"}')
  await expectVerdict(eventId, slow, 'delivered')
  const parked = await expectVerdict(eventId, failing, 'parked')
  expect(parked.explanation).toContain('the schedule ended after 4 attempts')

  const list = (query: Schemas['ListDeliveriesQuery']) => acme.api.subscriptions.deliveries(failing.id, query).page()
  expect((await list({ state: 'any' })).items).toMatchObject([
    { deliveryId: parked.deliveryId, eventId, state: 'parked' },
  ])
  expect((await list({ eventId })).items).toHaveLength(1)
  expect((await list({ state: 'waiting' })).items).toEqual([])
})

test('the record says why no POST was made', async () => {
  const [other, disabled, changed] = [
    await subscribe('/other', ['agent.status']),
    await subscribe('/disabled'),
    await subscribe('/changed', ['agent.status']),
  ]
  await acme.api.subscriptions.change(disabled.id, { enabled: false })
  const eventId = await publish()
  await expectVerdict(eventId, other, 'not-subscribed')
  const later = await subscribe('/later')
  await acme.api.subscriptions.change(changed.id, { eventTypes: ['call.status'] })
  expect(await expectVerdict(eventId, disabled, 'disabled')).toMatchObject({ deliveryId: null })
  await expectVerdict(eventId, later, 'created-later')
  await expectVerdict(eventId, changed, 'changed-later')
})

test('the record names the cool-down as the reason for a skipped attempt', async () => {
  const subscription = await subscribe('/dead')
  receiver.answer('/dead', { status: 503 })
  // More than `BREAKER_FAILURES` of the test stack (20).
  const eventIds = await Promise.all(Array.from({ length: 40 }, publish))
  const found = await expectVerdict(eventIds.at(-1) ?? '', subscription, 'cooling-down')
  expect(found.explanation).toMatch(/^The endpoint failed \d+ times in a row and is not contacted until /)
})

test('the record covers a subscription that has been deleted since', async () => {
  receiver.answer('/gone', { delayMs: 2_000 })
  // Nothing more is recorded until the first attempt has ended.
  await eventually(async () => {
    const subscription = await subscribe('/gone')
    const before = receiver.requests('/gone').length
    const eventId = await publish()
    await eventually(() => expect(receiver.requests('/gone').length).toBeGreaterThan(before))
    await acme.unsubscribe(subscription.id)
    // The record of an event is written in batches, so it is not readable immediately.
    await eventually(
      async () => expect(await explain(eventId, subscription)).toMatchObject({ verdict: 'deleted', lastAttempt: null }),
      { timeoutMs: 1_800, ...OFTEN },
    )
  })

  await eventually(async () => {
    const crowded = await subscribe('/gone')
    // More deliveries than the stack attempts at the same time.
    const eventIds = await Promise.all(Array.from({ length: 60 }, publish))
    await eventually(
      async () => expect(await explain(eventIds.at(-1) ?? '', crowded)).toMatchObject({ verdict: 'pending' }),
      { timeoutMs: 1_800, ...OFTEN },
    )
    await acme.unsubscribe(crowded.id)
    // One by one: an api answers few explanations of a tenant at the same time, and refuses the others with 429.
    await eventually(
      async () => {
        const verdicts: string[] = []
        for (const eventId of eventIds.toReversed()) {
          verdicts.push((await explain(eventId, crowded)).verdict)
          if (verdicts.at(-1) === 'withdrawn') break
        }
        expect(verdicts).toContain('withdrawn')
      },
      { timeoutMs: 5_000 },
    )
  })
})
