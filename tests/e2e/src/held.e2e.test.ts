import { randomUUID } from 'node:crypto'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

/** Its agents make no calls in the tests of faults, whose events can come late. */
let globex: Client
let receiver: Receiver
const opened: Subscription[] = []

beforeAll(async () => {
  ;[globex, receiver] = await Promise.all([openClient('globex'), startReceiver()])
})
afterAll(async () => {
  await Promise.all(opened.map(({ id }) => globex.unsubscribe(id)))
  await receiver.close()
})

async function subscribe(path: string): Promise<Subscription> {
  const subscription = await globex.subscribe(receiver.url(path))
  opened.push(subscription)
  return subscription
}
const heldOf = async ({ id }: Subscription) => (await globex.api.subscriptions.read(id)).held
const deliveriesOf = async ({ id }: Subscription) =>
  (await globex.api.subscriptions.deliveries(id, { state: 'any', limit: 100 }).page()).items
const markersAt = (path: string): string[] =>
  receiver.requests(path).map((request) => String(envelopeOf(request).data['marker']))
const holds = (subscription: Subscription, count: number) =>
  eventually(async () => expect(await heldOf(subscription)).toMatchObject({ count }), { timeoutMs: 60_000 })

test('while a subscription is paused nothing is sent and nothing is lost; once resumed, everything arrives as it was', async () => {
  const [paused, twin] = await Promise.all([subscribe('/paused'), subscribe('/twin')])
  const changed = await globex.api.subscriptions.change(paused.id, { paused: true })
  expect(changed).toMatchObject({ paused: true, pausedUntil: null, enabled: true })
  const markers: string[] = []
  for (let i = 0; i < 30; i++) markers.push(await publishEvent({ tenant: 'globex' }))
  await holds(paused, 30)
  expect(receiver.requests('/paused')).toEqual([])
  // The list of deliveries follows a moment later.
  const before = await eventually(async () => {
    const listed = await deliveriesOf(paused)
    expect(listed.map(({ state }) => state)).toEqual(markers.map(() => 'held'))
    return listed
  })

  await globex.api.subscriptions.change(paused.id, { paused: false })
  await eventually(() => expect(markersAt('/paused').toSorted()).toEqual(markers.toSorted()), { timeoutMs: 60_000 })
  // Nothing that was paused differs from what was not, except the ids of the deliveries.
  const dataOf = (path: string) =>
    receiver.requests(path).map((request) => {
      const { deliveryId: _, ...envelope } = envelopeOf(request)
      return JSON.stringify(envelope)
    })
  expect(dataOf('/paused').toSorted()).toEqual(
    dataOf('/twin')
      .filter((each) => markers.some((marker) => each.includes(marker)))
      .toSorted(),
  )
  const sent = receiver
    .requests('/paused')
    .map(({ headers }) => `${String(headers['x-svc-delivery'])} ${String(headers['x-svc-attempt'])}`)
  expect(sent.toSorted()).toEqual(before.map(({ deliveryId }) => `${deliveryId} 1`).toSorted())
  await holds(paused, 0)
  // The record of an attempt is written after its POST.
  await eventually(async () => {
    expect((await deliveriesOf(paused)).map(({ state }) => state)).toEqual(markers.map(() => 'acknowledged'))
  })
  expect((await heldOf(twin)).count).toBe(0)
}, 60_000)

test('a retry that falls due while its subscription is paused is held in its slot', async () => {
  const subscription = await subscribe('/retry')
  receiver.answer('/retry', { status: 503 })
  const eventId = randomUUID()
  const own = async () => (await deliveriesOf(subscription)).find((delivery) => delivery.eventId === eventId)
  const postsOf = () =>
    receiver.requests('/retry').filter(({ headers }) => headers['x-svc-event-id'] === eventId).length
  await publishEvent({ tenant: 'globex', eventId })
  await eventually(() => expect(postsOf()).toBeGreaterThan(0))
  await globex.api.subscriptions.change(subscription.id, { paused: true })
  const held = await eventually(
    async () => {
      const found = await own()
      expect(found?.state).toBe('held')
      return found
    },
    { timeoutMs: 60_000 },
  )
  const posts = postsOf()
  expect(held?.attempts.map(({ attempt, slot }) => [attempt, slot])).toEqual(
    Array.from({ length: posts }, (_, i) => [i + 1, i]),
  )
  const explained = await globex.api.events.explain(eventId)
  expect(explained.subscriptions.find(({ subscriptionId }) => subscriptionId === subscription.id)?.verdict).toBe('held')
  receiver.answer('/retry', { status: 204 })
  await globex.api.subscriptions.change(subscription.id, { paused: null })
  await eventually(async () => expect((await own())?.state).toBe('acknowledged'))
  expect(postsOf()).toBe(posts + 1)
}, 60_000)

test('a subscription that is paused for a time resumes when the time is over', async () => {
  const subscription = await subscribe('/until')
  const pausedUntil = new Date(Date.now() + 3_000).toISOString()
  await globex.api.subscriptions.change(subscription.id, { pausedUntil })
  await publishEvent({ tenant: 'globex' })
  await holds(subscription, 1)
  const [request] = await receiver.waitFor(1, '/until')
  expect(request?.receivedAt).toBeGreaterThanOrEqual(Date.parse(pausedUntil) - 50)
}, 60_000)

test.each(['deleted', 'disabled'] as const)(
  'what is held is withdrawn when its subscription is %s',
  async (change) => {
    const path = `/${change}`
    const subscription = await subscribe(path)
    await globex.api.subscriptions.change(subscription.id, { paused: true })
    await publishEvent({ tenant: 'globex' })
    await holds(subscription, 1)
    if (change === 'deleted') await globex.api.subscriptions.delete(subscription.id)
    else await globex.api.subscriptions.change(subscription.id, { enabled: false })
    if (change === 'disabled') {
      await eventually(async () => expect((await deliveriesOf(subscription))[0]?.state).toBe('withdrawn'), {
        timeoutMs: 60_000,
      })
      await holds(subscription, 0)
    }
    expect(receiver.requests(path)).toEqual([])
  },
  60_000,
)

test('a parked delivery that is sent again while its subscription is paused is held', async () => {
  const subscription = await subscribe('/parked')
  receiver.answer('/parked', { status: 400 })
  await publishEvent({ tenant: 'globex' })
  await eventually(async () => expect((await deliveriesOf(subscription))[0]?.state).toBe('parked'))
  await globex.api.subscriptions.change(subscription.id, { paused: true })
  const [parked] = await deliveriesOf(subscription)
  await globex.api.deliveries.redeliver(parked?.deliveryId ?? '')
  await holds(subscription, 1)
  receiver.answer('/parked', { status: 204 })
  await globex.api.subscriptions.change(subscription.id, { paused: false })
  await eventually(async () => expect((await deliveriesOf(subscription))[0]?.state).toBe('acknowledged'), {
    timeoutMs: 60_000,
  })
  const [one, two] = receiver.requests('/parked')
  expect(two?.body.equals(one?.body ?? Buffer.alloc(0))).toBe(true)
}, 60_000)
