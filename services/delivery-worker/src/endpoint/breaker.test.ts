import { type Delivery, newSubscriptionId, type Outcome } from '@switchhook/contracts'
import type { EndpointHealth } from '@switchhook/store'
import { eventually } from '@switchhook/testkit'
import { type Before, createBreaker } from './breaker.ts'

const ok: Outcome = { kind: 'delivered', status: 204 }
const rejected: Outcome = { kind: 'answered', status: 404 }
const down: Outcome = { kind: 'unreachable', reason: 'refused' }
const before = (consecutiveFailures: number, state: EndpointHealth['state'] = 'closed', recentHangs = 0): Before => ({
  health: { state, consecutiveFailures, openUntilMs: null, recentHangs },
  probe: state === 'probing' ? 'the probe' : undefined,
})

function aBreaker(maxAttemptMs = 60_000) {
  const records: string[] = []
  const openedFor: string[] = []
  const notices: string[] = []
  const breaker = createBreaker({
    store: {
      claimProbe: async () => 'the probe',
      giveUpProbe: async () => {},
      recordFailure: async (_endpoint, probe, result) => {
        records.push(`${result?.hung === true ? 'hung' : 'failure'} ${probe ?? ''}`.trim())
        return records.length === 2
      },
      recordAnswer: async () => void records.push('answer'),
    },
    maxAttemptMs,
    opened: (subscriptionId) => openedFor.push(subscriptionId),
    notices: {
      failing: async () => void notices.push(`failing after ${records.length}`),
      recovered: async () => void notices.push(`recovered after ${records.length}`),
    },
    scheduleOf: () => ({ waitsMs: [], cooldownMs: 900_000 }),
  })
  return { breaker, records, openedFor, notices }
}

const aDelivery = (): Delivery => ({ tenant: 'acme', subscriptionId: newSubscriptionId() }) as Delivery

test('an answer from a healthy endpoint writes nothing', async () => {
  const { breaker, records } = aBreaker()
  await breaker.record(aDelivery(), ok, before(0), 0)
  await breaker.record(aDelivery(), rejected, before(0), 0)
  expect(records).toEqual([])
})

test.each([
  ['acknowledges', ok],
  ['rejects', rejected],
])('the failure count is reset when an endpoint %s', async (_name, outcome) => {
  const { breaker, records } = aBreaker()
  await breaker.record(aDelivery(), outcome, before(1), 0)
  expect(records).toEqual(['answer'])
})

test('a failure of the egress proxy neither counts as a failure nor as an answer of the endpoint', async () => {
  const { breaker, records, notices } = aBreaker()
  const delivery = aDelivery()
  for (const state of ['closed', 'probing'] as const) {
    await breaker.record(delivery, { kind: 'unreachable', reason: 'proxy' }, before(4, state), 0)
  }
  expect([records, notices, breaker.isFailing(delivery)]).toEqual([[], [], false])
})

test('an answered probe closes the breaker', async () => {
  const { breaker, records } = aBreaker()
  await breaker.record(aDelivery(), ok, before(5, 'probing'), 0)
  expect(records).toEqual(['answer'])
})

test('an answer to a POST that began before this worker saw the endpoint fail is written, once', async () => {
  const { breaker, records } = aBreaker()
  const delivery = aDelivery()
  await breaker.record(delivery, down, before(0), 0)
  await breaker.record(aDelivery(), ok, before(0), 0)
  await breaker.record(delivery, ok, before(0), 0)
  await breaker.record(delivery, ok, before(0), 0)
  expect(records).toEqual(['failure', 'answer'])
})

test('a failure is counted with its probe, and the start of a cool-down is reported', async () => {
  const { breaker, records, openedFor } = aBreaker()
  const delivery = aDelivery()
  await breaker.record(delivery, down, before(0), 0)
  expect(openedFor).toEqual([])
  await breaker.record(delivery, down, before(4, 'probing'), 0)
  expect(records).toEqual(['failure', 'failure the probe'])
  expect(openedFor).toEqual([delivery.subscriptionId])
})

test('the Retry-After of an endpoint is passed on, up to a limit', async () => {
  const [results, opened]: [unknown[], unknown[]] = [[], []]
  const breaker = createBreaker({
    store: {
      claimProbe: async () => 'the probe',
      giveUpProbe: async () => {},
      recordFailure: async (_endpoint, _probe, result) => results.push(result) > 1,
      recordAnswer: async () => {},
    },
    maxAttemptMs: 60_000,
    opened: (_subscriptionId, retryAfterMs) => opened.push(retryAfterMs),
    notices: { failing: async () => {}, recovered: async () => {} },
    scheduleOf: () => ({ waitsMs: [], cooldownMs: 20_000 }),
  })
  await breaker.record(
    aDelivery(),
    { kind: 'answered', status: 429, answer: 'slow down', retryAfterMs: 5_000 },
    before(0),
    0,
  )
  await breaker.record(aDelivery(), { kind: 'answered', status: 503, retryAfterMs: 900_000 }, before(0), 0)
  await breaker.record(aDelivery(), down, before(0), 0)
  expect(results).toMatchObject([
    { outcome: 'answered', status: 429, retryAfterMs: 5_000 },
    { outcome: 'answered', status: 503, retryAfterMs: 20_000 },
    { outcome: 'refused', status: null },
  ])
  expect(opened).toEqual([20_000, undefined])
})

test('each cool-down triggers the failing notice; the recovered notice precedes the closing of the breaker', async () => {
  const { breaker, notices } = aBreaker()
  const delivery = aDelivery()
  await breaker.record(aDelivery(), ok, before(0), 0)
  await breaker.record(delivery, down, before(0), 0)
  expect(notices).toEqual([])
  await breaker.record(delivery, down, before(1), 0)
  await breaker.record(delivery, ok, before(5, 'probing'), 0)
  expect(notices).toEqual(['failing after 2', 'recovered after 2'])
})

test('this worker knows that an endpoint fails from its failure until its next answer', async () => {
  const { breaker } = aBreaker()
  const delivery = aDelivery()
  expect(breaker.isFailing(delivery)).toBe(false)
  await breaker.record(delivery, down, before(0), 0)
  expect([breaker.isFailing(delivery), breaker.isFailing(aDelivery())]).toEqual([true, false])
  await breaker.record(delivery, ok, before(1), 0)
  expect(breaker.isFailing(delivery)).toBe(false)
})

test('after more dead endpoints than are remembered, only endpoints that fail count as failing', async () => {
  const { breaker } = aBreaker()
  const last = aDelivery()
  for (let dead = 0; dead < 10_000; dead++) await breaker.record(aDelivery(), down, before(0), 0)
  await breaker.record(last, down, before(0), 0)
  expect([breaker.isFailing(last), breaker.isFailing(aDelivery())]).toEqual([true, false])
})

test('a failure is forgotten once every POST that began before it has ended: a deleted subscription leaves no entry', async () => {
  const { breaker } = aBreaker(5)
  const deleted = aDelivery()
  await breaker.record(deleted, down, before(0), 0)
  await eventually(() => expect(breaker.isFailing(deleted)).toBe(false))
})

test('a failure that hung is recorded as such; while one is known, the answers are recorded, too', async () => {
  const { breaker, records } = aBreaker()
  await breaker.record(aDelivery(), down, before(0), 0)
  await breaker.record(aDelivery(), down, before(0), 1_000)
  await breaker.record(aDelivery(), ok, before(0, 'closed', 1), 0)
  expect(records).toEqual(['failure', 'hung', 'answer'])
})
