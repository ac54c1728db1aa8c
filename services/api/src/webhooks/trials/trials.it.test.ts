import {
  type CheckFacts,
  type CheckResult,
  compileSchema,
  type Delivery,
  deliveryIdOf,
  describeEventTypes,
  parseDelivery,
  parseEventId,
  parseReceiverCheck,
  parseSubscriptionId,
  type ReceiverCheck,
} from '@switchhook/contracts'
import { type Broker, openBroker, Queue, serviceTopology } from '@switchhook/messaging'
import { type Surroundings, startSurroundings } from '@switchhook/servicekit'
import { type CheckStore, createCheckStore, createContactStore, openRedis, type Redis } from '@switchhook/store'
import { eventually, silentLog as log } from '@switchhook/testkit'
import { type ApiUnderTest, startApiUnderTest } from '../../testing/api-under-test.ts'

const SUBSCRIPTIONS = '/api/v1/webhooks/subscriptions'
const GOOD: CheckFacts = {
  deadlineMs: 10_000,
  isSigned: false,
  plain: { outcome: 'delivered', status: 204, durationMs: 31 },
  duplicate: { outcome: 'delivered', status: 204, durationMs: 30 },
}

let around: Surroundings<'acme'>
let api: ApiUnderTest
let redis: Redis
let worker: Broker
let checks: CheckStore
let headers: { authorization: string }
const due: Delivery[] = []
const asked: ReceiverCheck[] = []
/** The result that the worker saves for a check; undefined: it saves none. */
let facts: CheckResult | undefined

beforeAll(async () => {
  around = await startSurroundings('acme')
  api = await startApiUnderTest({ ...around.env, RECEIVER_CHECK_TIMEOUT: '2s' })
  headers = around.bearer('acme')
  redis = await openRedis({ url: around.redis.redisUrl, log, name: 'worker' })
  checks = createCheckStore(redis)
  worker = await openBroker({ url: around.broker.amqpUrl, topology: serviceTopology([]), log, name: 'worker' })
  const common = { concurrency: 10, recovered: async () => {} }
  await worker.consume({
    ...common,
    queue: Queue.deliveryDue,
    parse: ({ content, headers: of }) => parseDelivery(content, of),
    handle: async (delivery) => void due.push(delivery),
  })
  await worker.consume({
    ...common,
    queue: Queue.receiverChecks,
    parse: ({ content }) => parseReceiverCheck(content),
    handle: async (check) => {
      asked.push(check)
      if (facts !== undefined) await checks.save(check.checkId, facts)
    },
  })
})

afterAll(async () => {
  await api.close()
  await worker.close()
  await redis.close()
  await around.close()
})

afterEach(() => {
  due.length = 0
  asked.length = 0
  facts = undefined
})

async function subscribe(eventTypes = ['webhook.delivery.parked', 'call.status']): Promise<string> {
  const json = { url: 'https://client.example/hook', eventTypes }
  const { status, body } = await api.call('POST', SUBSCRIPTIONS, { headers, json })
  expect(status).toBe(201)
  return (body as { id: string }).id
}

const check = async (id: string, json: object = {}) =>
  api.call('POST', `${SUBSCRIPTIONS}/${id}/check`, { headers, json })

test.each(describeEventTypes())(
  'a test delivery of $type is published, marked as a test and valid by its schema',
  async (entry) => {
    const id = await subscribe()
    const { status, body } = await api.call('POST', `${SUBSCRIPTIONS}/${id}/test`, {
      headers,
      json: { eventType: entry.type },
    })
    expect(status).toBe(202)
    const { deliveryId, eventId } = body as { deliveryId: string; eventId: string }
    expect(deliveryId).toBe(deliveryIdOf(parseEventId(eventId), parseSubscriptionId(id)))
    await eventually(() => expect(due).toHaveLength(1))
    const [delivery] = due
    expect(delivery).toMatchObject({
      deliveryId,
      eventId,
      subscriptionId: id,
      eventType: entry.type,
      trial: 'test',
      tenant: 'acme',
      url: 'https://client.example/hook',
      run: 1,
      slot: 0,
      attempt: 0,
    })
    const sent: unknown = JSON.parse(String(delivery?.body))
    expect(compileSchema(entry.schema)(sent)).toEqual({ ok: true, value: sent })
  },
)

test('without a type, the first event type of the subscription is sent', async () => {
  const id = await subscribe()
  const { body } = await api.call('POST', `${SUBSCRIPTIONS}/${id}/test`, { headers, json: {} })
  expect(body).toMatchObject({ eventType: 'webhook.delivery.parked' })
})

test('a worker runs a check, and the answer reports the findings', async () => {
  const id = await subscribe()
  facts = GOOD
  const before = Date.now()
  const { status, body } = await check(id, { eventType: 'call.status' })
  expect(status).toBe(200)
  expect(body).toEqual({
    verdict: 'good',
    findings: [
      { check: 'delivery', result: 'passed', seen: 'Status 204 after 31 ms.', advice: null },
      { check: 'speed', result: 'passed', seen: 'Status 204 after 31 ms.', advice: null },
      { check: 'duplicate', result: 'passed', seen: 'Status 204 after 30 ms.', advice: null },
      expect.objectContaining({ check: 'forged-signature', result: 'skipped' }),
      expect.objectContaining({ check: 'stale-timestamp', result: 'skipped' }),
      expect.objectContaining({ check: 'kept-connection', result: 'skipped' }),
    ],
  })
  const [request] = asked
  expect(request).toMatchObject({ subscriptionId: id, tenant: 'acme', eventType: 'call.status' })
  // Of Redis's clock, the api knows the earliest time that it can show.
  expect(Date.parse(request?.expiresAt ?? '')).toBeGreaterThan(before)
  expect(Date.parse(request?.expiresAt ?? '')).toBeLessThanOrEqual(Date.now() + 2_000)
})

test('a check that no worker finishes answers 503 in time, and another check can start', async () => {
  const id = await subscribe()
  const pending = check(id)
  await eventually(() => expect(asked).toHaveLength(1))
  const second = await check(id)
  expect([second.status, (second.body as { code: string }).code]).toEqual([409, 'check-running'])
  const first = await pending
  expect([first.status, (first.body as { code: string }).code]).toEqual([503, 'check-unfinished'])
  expect(first.headers.get('retry-after')).not.toBeNull()
  facts = GOOD
  expect((await check(id)).status).toBe(200)
})

test('a tenant can run three checks at the same time; the fourth answers 429 with Retry-After', async () => {
  const ids = await Promise.all([1, 2, 3, 4].map(() => subscribe()))
  const [last = '', ...others] = ids
  const pending = others.map((id) => check(id))
  // Each check ends at its timeout, so all three must begin well before the first one ends.
  await eventually(() => expect(asked).toHaveLength(3), { intervalMs: 5 })
  const fourth = await check(last)
  expect(fourth.body).toMatchObject({
    status: 429,
    code: 'too-many-checks',
    detail: expect.stringContaining('At most 3'),
  })
  expect(Number(fourth.headers.get('retry-after'))).toBeGreaterThan(0)
  await Promise.all(pending)
  facts = GOOD
  expect((await check(last)).status).toBe(200)
})

test.each([
  [409, 'secret-unavailable'],
  [404, 'subscription-not-found'],
] as const)('a check that the worker refuses is answered immediately with %i %s', async (status, refused) => {
  const id = await subscribe()
  facts = { refused }
  expect((await check(id)).body).toMatchObject({ status, code: refused })
  facts = GOOD
  expect((await check(id)).status).toBe(200)
})

test.each<[string, object | null]>([
  ['refusal', { refused: 'endpoint-on-holiday' }],
  ['absence of a result', null],
  ['result', { deadlineMs: 10_000, probes: [] }],
])('an unknown %s of a newer worker answers 503 check-unfinished, never 500', async (_what, saved) => {
  const id = await subscribe()
  facts = saved as CheckResult
  expect((await check(id)).body).toMatchObject({ status: 503, code: 'check-unfinished' })
  facts = GOOD
  expect((await check(id)).status).toBe(200)
})

test.each(['test', 'check'])('a %s of an unknown or disabled subscription is rejected', async (what) => {
  const json = {}
  const unknown = await api.call('POST', `${SUBSCRIPTIONS}/${crypto.randomUUID()}/${what}`, { headers, json })
  expect(unknown.body).toMatchObject({ status: 404, code: 'subscription-not-found' })
  const id = await subscribe()
  await api.call('PATCH', `${SUBSCRIPTIONS}/${id}`, { headers, json: { enabled: false } })
  const disabled = await api.call('POST', `${SUBSCRIPTIONS}/${id}/${what}`, { headers, json })
  expect(disabled.body).toMatchObject({ status: 409, code: 'subscription-disabled' })
  const wrong = await api.call('POST', `${SUBSCRIPTIONS}/${id}/${what}`, { headers, json: { eventType: 'x' } })
  expect(wrong.body).toMatchObject({ status: 400, code: 'invalid-request' })
})

test('the catalogue lists the event types of the code', async () => {
  const { status, body } = await api.call('GET', '/api/v1/webhooks/event-types', { headers })
  expect([status, body]).toEqual([200, JSON.parse(JSON.stringify({ items: describeEventTypes() }))])
  expect((await api.call('GET', '/api/v1/webhooks/event-types')).status).toBe(401)
})

test('a subscription shows its endpoint’s last success and failure', async () => {
  const id = await subscribe()
  await createContactStore(redis).record(
    { tenant: 'acme', subscriptionId: parseSubscriptionId(id) },
    {
      successAtMs: Date.parse('2026-01-01T00:00:00.000Z'),
      failureAtMs: Date.parse('2026-01-02T00:00:00.000Z'),
      failure: { outcome: 'timeout', status: null },
    },
  )
  for (const [path, pick] of [
    [`${SUBSCRIPTIONS}/${id}`, (body: unknown) => body],
    [SUBSCRIPTIONS, (body: unknown) => (body as { id: string }[]).find((each) => each.id === id)],
  ] as const) {
    const { body } = await api.call('GET', path, { headers })
    expect(pick(body)).toMatchObject({
      health: {
        lastSuccessAt: '2026-01-01T00:00:00.000Z',
        lastFailureAt: '2026-01-02T00:00:00.000Z',
        lastFailureOutcome: 'timeout',
        lastFailureStatus: null,
      },
    })
  }
})

test("a check ends by Redis's clock, which workers compare with: an api whose clock is behind still gets results", async () => {
  const { body } = await api.call('POST', SUBSCRIPTIONS, {
    headers,
    json: { url: 'https://a.example', eventTypes: ['*'] },
  })
  facts = GOOD
  const nowMs = Date.now()
  const behind = jest.spyOn(Date, 'now').mockImplementation(() => performance.timeOrigin + performance.now() - 45_000)
  const { status } = await api.call('POST', `${SUBSCRIPTIONS}/${(body as { id: string }).id}/check`, { headers })
  behind.mockRestore()
  expect(status).toBe(200)
  expect(Date.parse(asked.at(-1)?.expiresAt ?? '')).toBeGreaterThan(nowMs)
})
