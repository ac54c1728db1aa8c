import { createHmac, randomUUID } from 'node:crypto'
import {
  type Answer,
  eventually,
  type ReceivedRequest,
  type Receiver,
  type ReceiverScript,
  startReceiver,
} from '@switchhook/testkit'
import { Webhook } from 'standardwebhooks'
import { type Client, type Delivery, envelopeOf, openClient, type Subscription } from './client.ts'

/** `DELIVERY_TIMEOUT` of the test stack. */
const DEADLINE_MS = 3_000

interface Report {
  readonly verdict: string
  readonly findings: readonly {
    readonly check: string
    readonly result: string
    readonly seen: string
    readonly advice: string | null
  }[]
}

let owner: Client
let receiver: Receiver
let subscription: Subscription & { readonly secret?: string }

beforeAll(async () => {
  owner = await openClient('globex')
})

beforeEach(async () => {
  receiver = await startReceiver()
  // An event type that no other test uses for this tenant.
  subscription = await owner.subscribe(receiver.url('/hook'), ['webhook.endpoint.recovered'])
})

afterEach(async () => {
  await owner.unsubscribe(subscription.id)
  await receiver.close()
})

const path = (what: string): string => `/webhooks/subscriptions/${subscription.id}/${what}`

describe('a test delivery', () => {
  const send = (body: object = {}, headers: Record<string, string> = {}) =>
    owner.request<{ deliveryId: string; eventId: string; eventType: string; code?: string }>(
      'POST',
      path('test'),
      body,
      headers,
    )

  test('arrives like any other delivery, is marked as a test, and can be read', async () => {
    const { status, body } = await send({ eventType: 'agent.status' })
    expect(status).toBe(202)
    expect(body.eventType).toBe('agent.status')
    const [request] = await receiver.waitFor(1, '/hook')
    expect(request?.headers).toMatchObject({
      'x-svc-event': 'agent.status',
      'x-svc-delivery': body.deliveryId,
      'x-svc-attempt': '1',
      'x-svc-test': 'true',
    })
    const { deliveryId, data, occurredAt, tenant } = envelopeOf(request)
    expect({ deliveryId, tenant }).toEqual({ deliveryId: body.deliveryId, tenant: 'globex' })
    expect(data).toMatchObject({ agentUri: 'sip:alice@acme.example', occurredAt })
    expect(Math.abs(Date.parse(occurredAt) - Date.now())).toBeLessThan(60_000)
    await eventually(async () => {
      const read = await owner.request<Delivery>('GET', `/webhooks/deliveries/${body.deliveryId}`)
      expect(read.body).toMatchObject({ state: 'acknowledged', test: true })
    })
  })

  test('can be read as soon as its id is returned', async () => {
    receiver.answer('/hook', { delayMs: DEADLINE_MS / 2 })
    const { deliveryId } = (await send()).body
    const { status, body } = await owner.request<Delivery>('GET', `/webhooks/deliveries/${deliveryId}`)
    expect([status, body.state]).toEqual([200, 'pending'])
  })

  test('is retried and marked as a test at every attempt', async () => {
    receiver.answer('/hook', [{ status: 503 }, { status: 204 }])
    await send({ eventType: 'webhook.delivery.parked' })
    const requests = await receiver.waitFor(2, '/hook')
    expect(requests.map(({ headers }) => [headers['x-svc-attempt'], headers['x-svc-test']])).toEqual([
      ['1', 'true'],
      ['2', 'true'],
    ])
    expect(requests[0]?.body.equals(requests[1]?.body ?? Buffer.of())).toBe(true)
  })

  test('is the same one if it is requested again with the same key', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const first = await send({}, key)
    const again = await send({}, key)
    expect(again.body).toEqual(first.body)
    const next = await send({ eventType: 'call.status' })
    await eventually(() =>
      expect(receiver.requests('/hook').map(({ headers }) => headers['x-svc-delivery'])).toEqual(
        expect.arrayContaining([first.body.deliveryId, next.body.deliveryId]),
      ),
    )
    expect(receiver.requests('/hook')).toHaveLength(2)
  })
})

describe('a receiver check', () => {
  const check = async (): Promise<Report> => {
    const { status, body } = await owner.request<Report>('POST', path('check'), {})
    expect(status).toBe(200)
    return body
  }

  /** Verifies with the Standard Webhooks library, as a receiver should. */
  const isGenuine = ({ body, headers }: ReceivedRequest): boolean => {
    try {
      new Webhook(subscription.secret ?? '').verify(body, headers as Record<string, string>)
      return true
    } catch {
      return false
    }
  }
  /** Verifies the signature but not the timestamp. */
  const isSigned = ({ body, headers }: ReceivedRequest): boolean => {
    const key = Buffer.from((subscription.secret ?? '').replace('whsec_', ''), 'base64')
    const signed = createHmac('sha256', key).update(
      `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.`,
    )
    return headers['webhook-signature'] === `v1,${signed.update(body).digest('base64')}`
  }
  const believing =
    (believes: (request: ReceivedRequest) => boolean, answer: Answer = {}): ReceiverScript =>
    (request) => ({ ...answer, status: believes(request) ? 202 : 401 })
  const refusing: ReceiverScript = (_request, index): Answer => ({ status: index === 0 ? 204 : 409 })

  test.each<[string, ReceiverScript, string, RegExp | null]>([
    ['does everything right', believing(isGenuine), 'passed passed passed passed passed passed', null],
    ['believes everybody', { status: 202 }, 'passed passed passed failed failed passed', /Verify webhook-signature/],
    ['forgets the time', believing(isSigned), 'passed passed passed passed failed passed', /five minutes/],
    [
      'is slow',
      believing(isGenuine, { delayMs: DEADLINE_MS * 0.7 }),
      'passed failed passed passed passed passed',
      /queue of your own/,
    ],
    ['refuses a duplicate', refusing, 'passed passed failed passed passed passed', /more than once/],
    [
      'redirects',
      { status: 307, headers: { location: '/other' } },
      'failed skipped skipped skipped skipped skipped',
      /Redirects/,
    ],
    ['knows no such path', { status: 404 }, 'failed skipped skipped skipped skipped skipped', /Correct the url/],
    ['fails', { status: 500 }, 'failed skipped skipped skipped skipped skipped', /log of the endpoint/],
    ['hangs', { instead: 'hang' }, 'failed skipped skipped skipped skipped skipped', /Answer before you process/],
    ['hangs up', { instead: 'reset' }, 'failed skipped skipped skipped skipped skipped', /closed before an answer/],
  ])('of an endpoint that %s', async (_name, script, results, advice) => {
    receiver.answer('/hook', script)
    const { verdict, findings } = await check()
    expect(findings.map(({ result }) => result).join(' ')).toBe(results)
    expect(verdict).toBe(advice === null ? 'good' : 'needs-work')
    const failed = findings.find(({ result }) => result === 'failed')
    if (advice === null) expect(failed).toBeUndefined()
    else expect(failed?.advice).toMatch(advice)
    for (const { headers } of receiver.requests('/hook')) expect(headers['x-svc-test']).toBe('true')
    const posts = receiver.requests('/hook').length
    expect(posts).toBe(results.startsWith('passed') ? 4 : 1)

    // A check is never retried, parked or counted.
    const parked = await owner.request<{ items: Delivery[] }>('GET', path('deliveries?state=parked'))
    expect(parked.body.items).toEqual([])
    const { body } = await owner.request<{ health: object }>('GET', `/webhooks/subscriptions/${subscription.id}`)
    expect(body.health).toMatchObject({ state: 'closed', consecutiveFailures: 0 })
  })

  test('reports an endpoint that refuses connections', async () => {
    await receiver.close()
    const { findings } = await check()
    expect(findings[0]).toMatchObject({ result: 'failed', seen: expect.stringContaining('refused') as string })
  })
})
