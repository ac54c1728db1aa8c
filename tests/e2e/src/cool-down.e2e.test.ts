import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, type Delivery, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'

interface Health {
  readonly state: string
  readonly consecutiveFailures: number
  readonly openUntil: string | null
}

/** More than what the stack of these tests takes for an endpoint that keeps failing (20). */
const EVENTS = 40

let acme: Client
let receiver: Receiver
let subscription: Subscription

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme'), startReceiver()])
  subscription = await acme.subscribe(receiver.url('/failing'))
})

afterAll(async () => {
  await acme.request('DELETE', `/webhooks/subscriptions/${subscription.id}`)
  await receiver.close()
})

const path = (): string => `/webhooks/subscriptions/${subscription.id}`
const health = async (): Promise<Health> => (await acme.request<{ health: Health }>('GET', path())).body.health

test('an endpoint that keeps failing is left alone for its cool-down, and then gets everything', async () => {
  expect(await health()).toEqual({ state: 'closed', consecutiveFailures: 0, openUntil: null })
  receiver.answer('/failing', { status: 503 })
  const markers = await Promise.all(Array.from({ length: EVENTS }, () => publishEvent()))
  const open = await eventually(async () => {
    const present = await health()
    expect(present.state).toBe('open')
    return present
  })
  expect(open.consecutiveFailures).toBeGreaterThanOrEqual(20)

  // It works again, but nobody finds out before the cool-down is over.
  const until = Date.parse(String(open.openUntil))
  receiver.answer('/failing', { status: 204 })
  const acknowledged = () => receiver.requests('/failing').filter(({ receivedAt }) => receivedAt > until)
  await eventually(async () => expect((await health()).state).toBe('closed'), { timeoutMs: 15_000 })
  const early = receiver.requests('/failing').filter(({ receivedAt }) => receivedAt < until - 5)
  // Attempts that had begun before it opened may have come in after; no new one began.
  expect(early.length).toBeLessThanOrEqual(EVENTS)

  await eventually(
    () => {
      const got = new Set(acknowledged().map((request) => envelopeOf(request).data['marker']))
      expect(got.size).toBe(markers.length)
    },
    { timeoutMs: 20_000 },
  )
  const parked = await acme.request<{ items: Delivery[] }>('GET', `${path()}/deliveries?state=parked`)
  expect(parked.body.items).toEqual([])
  for (const marker of markers) {
    const attempts = receiver
      .requests('/failing')
      .filter((request) => envelopeOf(request).data['marker'] === marker)
      .map(({ headers }) => Number(headers['x-svc-attempt']))
    // Slots that the cool-down has used up were no attempts.
    expect(attempts).toEqual(attempts.map((_attempt, index) => index + 1))
  }
})
