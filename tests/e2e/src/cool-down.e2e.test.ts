import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

/** More than `BREAKER_FAILURES` of the test stack (20). */
const EVENTS = 40

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
  subscription = await acme.subscribe(receiver.url('/failing'))
})

afterAll(async () => {
  await acme.unsubscribe(subscription.id)
  await receiver.close()
})

const healthOf = async ({ id }: Subscription) => (await acme.api.subscriptions.read(id)).health

test('an endpoint that answers with Retry-After gets no POST until then', async () => {
  const paused = await acme.subscribe(receiver.url('/paused'))
  receiver.answer('/paused', { status: 429, headers: { 'retry-after': '2' } })
  await publishEvent()
  const [first] = await receiver.waitFor(1, '/paused')
  await eventually(async () => {
    expect(await healthOf(paused)).toMatchObject({ state: 'open', consecutiveFailures: 1 })
  })
  receiver.answer('/paused', { status: 204 })
  const marker = await publishEvent()
  await eventually(() =>
    expect(receiver.requests('/paused').map((request) => envelopeOf(request).data['marker'])).toContain(marker),
  )
  const [, second] = receiver.requests('/paused')
  expect((second?.receivedAt ?? 0) - (first?.receivedAt ?? 0)).toBeGreaterThanOrEqual(1_900)
  await acme.unsubscribe(paused.id)
})

test('a failing endpoint gets no POST during its cool-down and every delivery afterwards', async () => {
  expect(await healthOf(subscription)).toMatchObject({ state: 'closed', consecutiveFailures: 0, openUntil: null })
  receiver.answer('/failing', { status: 503 })
  const markers = await Promise.all(Array.from({ length: EVENTS }, () => publishEvent()))
  const posts = (): number => receiver.requests('/failing').length
  // Attempts that began before the breaker opened still arrive. Wait until no more arrive.
  let seen = -1
  const { openUntil, consecutiveFailures } = await eventually(
    async () => {
      const isQuiet = posts() === seen
      seen = posts()
      const present = await healthOf(subscription)
      expect([present.state, isQuiet]).toEqual(['open', true])
      expect(Date.parse(String(present.openUntil)) - Date.now()).toBeGreaterThan(500)
      return present
    },
    { intervalMs: 400 },
  )
  expect(consecutiveFailures).toBeGreaterThanOrEqual(20)

  // The endpoint works again, but no POST can discover that during the cool-down.
  const failed = posts()
  receiver.answer('/failing', { status: 204 })
  const answered = () => receiver.requests('/failing').slice(failed)
  await eventually(() => {
    const got = new Set(answered().map((request) => envelopeOf(request).data['marker']))
    expect(got.size).toBe(markers.length)
  })
  expect(answered()[0]?.receivedAt).toBeGreaterThanOrEqual(Date.parse(String(openUntil)) - 5)
  expect((await healthOf(subscription)).state).toBe('closed')
  const parked = await acme.api.subscriptions.deliveries(subscription.id, { state: 'parked' }).page()
  expect(parked.items).toEqual([])
  for (const marker of markers) {
    const attempts = receiver
      .requests('/failing')
      .filter((request) => envelopeOf(request).data['marker'] === marker)
      .map(({ headers }) => Number(headers['x-svc-attempt']))
    // Slots that the cool-down used up do not count as attempts.
    expect(attempts).toEqual(attempts.map((_attempt, index) => index + 1))
  }
})
