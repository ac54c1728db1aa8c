import { randomUUID } from 'node:crypto'
import type { Schemas } from '@switchhook/client'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, openClient, publishEvent } from './client.ts'

/** Workers write their statistics every ten seconds. */
const PATIENT = { timeoutMs: 40_000, intervalMs: 200 }

let acme: Client
let receiver: Receiver

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme', 1), startReceiver()])
})

afterAll(() => receiver.close())

test('a rejecting endpoint shows in the causes, the list, the summary and the statistics of its tenant', async () => {
  receiver.answer('/rejects', { status: 401 })
  const { id } = await acme.subscribe(receiver.url('/rejects'))
  const eventId = randomUUID()
  await publishEvent({ eventId })
  const causes = await eventually(async () => {
    const { items } = await acme.api.deliveries.parked()
    const own = items.filter(({ subscriptionId }) => subscriptionId === id)
    expect(own).toHaveLength(1)
    return own
  }, PATIENT)
  expect(causes).toMatchObject([{ parkedReason: 'rejected', outcome: 'answered', status: 401, count: 1 }])
  const list = (query: Schemas['ListTenantDeliveriesQuery']) =>
    acme.api.deliveries.list({ subscriptionId: id, ...query }).page()
  const rejected = await list({ parkedReason: 'rejected', status: 401 })
  expect(rejected).toMatchObject({ items: [{ eventId, state: 'parked' }] })
  // The delivery log is written a moment later.
  await eventually(async () => expect(await list({ state: 'any' })).toMatchObject({ items: [{ eventId }] }), PATIENT)
  const summaries = await acme.api.subscriptions.summary({ limit: 100 }).page()
  expect(summaries.items.find(({ subscriptionId }) => subscriptionId === id)).toMatchObject({
    pending: 0,
    waiting: 0,
    parked: 1,
  })

  const point = await eventually(async () => {
    const { points } = await acme.api.deliveries.statistics({ subscriptionId: id })
    expect(points).toHaveLength(1)
    return points[0]
  }, PATIENT)
  expect(point).toMatchObject({ attempts: 1, acknowledged: 0, byOutcome: { '401': 1 }, parked: 1 })
  expect([point?.answerMs?.p50, point?.delayMs?.p50].every((ms) => ms !== undefined && ms > 0)).toBe(true)
  const { points } = await acme.api.deliveries.statistics({ step: '1h' })
  expect(points.at(-1)?.parked).toBeGreaterThan(0)
  await acme.unsubscribe(id)
})

test('the policy is that of the workers', async () => {
  expect(await acme.api.deliveries.policy()).toMatchObject({
    deliveryTimeoutMs: 3_000,
    retryWaitsMs: [300, 500, 700],
    breaker: { failures: 20 },
  })
})

test('a call is listed while it lives, and as an ended one afterwards', async () => {
  const agentUri = 'sip:e2e-185@acme.example'
  const callId = await acme.dial(agentUri, '+15550100')
  const legs = (live: boolean) => acme.api.calls.list({ live, agentUri }).page()
  await eventually(async () => {
    expect(await legs(true)).toMatchObject({ items: [{ callId, state: 3 }] })
  }, PATIENT)
  const agents = await acme.api.agents.list({ limit: 100 }).page()
  expect(agents.items.map((one) => one.agentUri)).toEqual(agents.items.map((one) => one.agentUri).toSorted())
  await acme.api.calls.hangup(callId, { agentUri })
  await eventually(async () => {
    expect(await legs(false)).toMatchObject({ items: [{ callId, state: 7, allowedCommands: [] }] })
  }, PATIENT)
  expect((await legs(true)).items).toEqual([])
})
