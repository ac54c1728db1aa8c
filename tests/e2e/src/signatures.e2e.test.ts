import type { Schemas } from '@switchhook/client'
import { eventually, type ReceivedRequest, type Receiver, startReceiver } from '@switchhook/testkit'
import { Webhook } from 'standardwebhooks'
import { type Client, envelopeOf, openClient, publishEvent, type Subscription } from './client.ts'
import { logOf } from './stack.ts'

type Created = Subscription & { readonly secret: string }

/** The test stack makes four attempts, with waits of 1.5 s in total. */
const TO_THE_LAST_ATTEMPT = [{ status: 503 }, { status: 503 }, { status: 503 }, { status: 204 }]

let acme: Client
let receiver: Receiver
let created: Created

beforeAll(async () => {
  acme = await openClient('acme')
})

beforeEach(async () => {
  receiver = await startReceiver()
  created = (await acme.subscribe(receiver.url('/hook'))) as Created
})

afterEach(async () => {
  await acme.unsubscribe(created.id)
  await receiver.close()
})

/**
 * Verifies a webhook with the Standard Webhooks library, as a receiver does.
 * @throws if it is not signed with this secret
 */
function verify(secret: string, request: ReceivedRequest | undefined): unknown {
  if (request === undefined) throw new Error('there is no such request')
  return new Webhook(secret).verify(request.body, request.headers as Record<string, string>)
}

const rotate = (body?: Schemas['SecretRotation']) => acme.api.subscriptions.rotateSecret(created.id, body)

test('the Standard Webhooks library verifies the webhooks of a call', async () => {
  await acme.dial('sip:e2e-150@acme.example', '+15550101')
  const requests = await receiver.waitFor(2, '/hook')
  for (const request of requests) {
    expect(verify(created.secret, request)).toEqual(envelopeOf(request))
    expect(request.headers['webhook-id']).toBe(request.headers['x-svc-delivery'])
    expect(() => verify('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request)).toThrow('No matching signature')
  }
})

test('a retry has the same id and body but its own timestamp and signature', async () => {
  receiver.answer('/hook', TO_THE_LAST_ATTEMPT)
  let earliestMs = Date.now()
  await publishEvent()
  const requests = await receiver.waitFor(4, '/hook')
  for (const request of requests) {
    expect(verify(created.secret, request)).toEqual(envelopeOf(request))
    const atSeconds = Number(request.headers['webhook-timestamp'])
    expect(atSeconds).toBeLessThanOrEqual(request.receivedAt / 1_000)
    // Redis's clock decides, and a worker knows the earliest time that it can show.
    expect(atSeconds).toBeGreaterThanOrEqual(earliestMs / 1_000 - 2)
    earliestMs = request.receivedAt
  }
  expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(requests.map(({ body }) => body.toString('hex'))).size).toBe(1)
  const [first, last] = [requests[0], requests[3]].map((request) => Number(request?.headers['webhook-timestamp']))
  expect(last).toBeGreaterThan(first ?? 0)
})

test('after a rotation both secrets sign until the overlap ends, then only the new one', async () => {
  const { secret } = await rotate({ overlapSeconds: 2 })
  await publishEvent()
  const [during] = await receiver.waitFor(1, '/hook')
  for (const one of [created.secret, secret]) expect(verify(one, during)).toBeDefined()

  const latest = await eventually(
    async () => {
      await publishEvent()
      const request = receiver.requests('/hook').at(-1)
      expect(String(request?.headers['webhook-signature']).split(' ')).toHaveLength(1)
      return request
    },
    { intervalMs: 200 },
  )
  expect(verify(secret, latest)).toBeDefined()
  expect(() => verify(created.secret, latest)).toThrow('No matching signature')
})

test('a revoked secret signs nothing, not even a retry of an earlier delivery', async () => {
  receiver.answer('/hook', TO_THE_LAST_ATTEMPT)
  await publishEvent()
  await receiver.waitFor(1, '/hook')
  const { secret } = await rotate({ overlapSeconds: 0 })
  const retry = (await receiver.waitFor(4, '/hook'))[3]
  expect(verify(secret, retry)).toBeDefined()
  expect(() => verify(created.secret, retry)).toThrow('No matching signature')
})

test('a retry that outlives its subscription is signed as before', async () => {
  receiver.answer('/hook', TO_THE_LAST_ATTEMPT)
  await publishEvent()
  await receiver.waitFor(1, '/hook')
  await acme.unsubscribe(created.id)
  const retry = (await receiver.waitFor(4, '/hook'))[3]
  expect(verify(created.secret, retry)).toBeDefined()
})

test('no service logs a secret', async () => {
  const { secret } = await rotate()
  await publishEvent()
  await receiver.waitFor(1, '/hook')
  const services = ['api', 'fanout', 'delivery-worker'].flatMap((name) => [`${name}-1`, `${name}-2`])
  // The worker logs the attempt after the POST.
  const said = await eventually(() => {
    const lines = services.flatMap(logOf).join('\n')
    expect(lines).toContain(created.id)
    return lines
  })
  for (const text of ['whsec_', created.secret.slice(6), secret.slice(6)]) expect(said).not.toContain(text)
})
