import { randomUUID } from 'node:crypto'
import { eventually, type Receiver, startReceiver } from '@switchhook/testkit'
import { type Client, openClient, publishEvent } from './client.ts'

interface Page<Item> {
  readonly items: readonly Item[]
}

interface Point {
  readonly attempts: number
  readonly acknowledged: number
  readonly byOutcome: Readonly<Record<string, number>>
  readonly parked: number
  readonly answerMs: { readonly p50: number } | null
  readonly delayMs: { readonly p50: number } | null
}

/** Workers write their statistics every ten seconds. */
const PATIENT = { timeoutMs: 40_000, intervalMs: 200 }

let acme: Client
let receiver: Receiver

beforeAll(async () => {
  ;[acme, receiver] = await Promise.all([openClient('acme', 1), startReceiver()])
})

afterAll(() => receiver.close())

async function read<T>(path: string): Promise<T> {
  const { status, body } = await acme.request<T>('GET', path)
  expect(status).toBe(200)
  return body
}

test('a rejecting endpoint shows in the causes, the list, the summary and the statistics of its tenant', async () => {
  receiver.answer('/rejects', { status: 401 })
  const { id } = await acme.subscribe(receiver.url('/rejects'))
  const eventId = randomUUID()
  await publishEvent({ eventId })
  const causes = await eventually(async () => {
    const { items } = await read<Page<{ subscriptionId: string }>>('/webhooks/parked')
    const own = items.filter(({ subscriptionId }) => subscriptionId === id)
    expect(own).toHaveLength(1)
    return own
  }, PATIENT)
  expect(causes).toMatchObject([{ parkedReason: 'rejected', outcome: 'answered', status: 401, count: 1 }])
  const query = `subscriptionId=${id}&parkedReason=rejected&status=401`
  expect(await read(`/webhooks/deliveries?${query}`)).toMatchObject({ items: [{ eventId, state: 'parked' }] })
  expect(await read(`/webhooks/deliveries?subscriptionId=${id}&state=any`)).toMatchObject({ items: [{ eventId }] })
  const summaries = await read<Page<{ subscriptionId: string }>>('/webhooks/summary?limit=100')
  expect(summaries.items.find(({ subscriptionId }) => subscriptionId === id)).toMatchObject({
    pending: 0,
    waiting: 0,
    parked: 1,
  })

  const point = await eventually(async () => {
    const { points } = await read<{ points: Point[] }>(`/webhooks/statistics?subscriptionId=${id}`)
    expect(points).toHaveLength(1)
    return points[0]
  }, PATIENT)
  expect(point).toMatchObject({ attempts: 1, acknowledged: 0, byOutcome: { '401': 1 }, parked: 1 })
  expect([point?.answerMs?.p50, point?.delayMs?.p50].every((ms) => ms !== undefined && ms > 0)).toBe(true)
  const { points } = await read<{ points: Point[] }>('/webhooks/statistics?step=1h')
  expect(points.at(-1)?.parked).toBeGreaterThan(0)
  await acme.request('DELETE', `/webhooks/subscriptions/${id}`)
})

test('the policy is that of the workers', async () => {
  expect(await read('/webhooks/policy')).toMatchObject({
    deliveryTimeoutMs: 1_000,
    retryWaitsMs: [300, 500, 700],
    breaker: { failures: 20 },
  })
})

test('a call is listed while it lives, and as an ended one afterwards', async () => {
  const agentUri = 'sip:e2e-190@acme.example'
  const callId = await acme.dial(agentUri, '+15550100')
  const legs = (live: boolean) =>
    read<Page<object>>(`/voice/calls?live=${live}&agentUri=${encodeURIComponent(agentUri)}`)
  await eventually(async () => {
    expect(await legs(true)).toMatchObject({ items: [{ callId, state: 3 }] })
  }, PATIENT)
  const agents = await read<Page<{ agentUri: string }>>('/voice/agents?limit=100')
  expect(agents.items.map((one) => one.agentUri)).toEqual(agents.items.map((one) => one.agentUri).toSorted())
  await acme.request('POST', `/voice/calls/${callId}/hangup`, { agentUri })
  await eventually(async () => {
    expect(await legs(false)).toMatchObject({ items: [{ callId, state: 7, allowedCommands: [] }] })
  }, PATIENT)
  expect((await legs(true)).items).toEqual([])
})
