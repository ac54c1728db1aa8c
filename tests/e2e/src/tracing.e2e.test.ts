import { randomBytes } from 'node:crypto'
import {
  type CollectedSpan,
  eventually,
  type Receiver,
  startReceiver,
  startTraceCollector,
  type TraceCollector,
} from '@switchhook/testkit'
import { type Client, openClient, type Subscription } from './client.ts'
import { logOf, readStack } from './stack.ts'

interface LogLine {
  readonly service: string
  readonly message: string
  readonly traceId?: string
  readonly subscriptionId?: string
  readonly eventId?: string
  readonly attempt?: number
}

const agentUri = 'sip:e2e-190@acme.example'
const FAILING = '/failing?token=secret'
const STATE_PATH = `/voice/agents/${encodeURIComponent(agentUri)}/presence`

let collector: TraceCollector
let receiver: Receiver
let acme: Client
let well: Subscription
let failing: Subscription

beforeAll(async () => {
  const endpoint = process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? ''
  ;[collector, receiver, acme] = await Promise.all([
    startTraceCollector({ port: Number(new URL(endpoint).port) }),
    startReceiver(),
    openClient('acme'),
  ])
  // By attempt, not by order: an agent of an earlier file can still change its status, and the tenant is shared.
  receiver.answer(FAILING, ({ headers }) => ({ status: headers['x-svc-attempt'] === '1' ? 503 : 204 }))
  well = await acme.subscribe(receiver.url('/well'), ['agent.status'])
  failing = await acme.subscribe(receiver.url(FAILING), ['agent.status'])
})

afterAll(async () => {
  for (const { id } of [well, failing]) await acme.unsubscribe(id)
  await Promise.all([receiver.close(), collector.close()])
})

const newTrace = (): { readonly traceId: string; readonly traceparent: string } => {
  const traceId = randomBytes(16).toString('hex')
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}

/** The attempt numbers of the POSTs about one agent. */
const attemptsOf = (agent: string, path: string): unknown[] =>
  receiver
    .requests(path)
    .filter(({ body }) => (JSON.parse(body.toString()) as { data: { agentUri: string } }).data.agentUri === agent)
    .map(({ headers }) => headers['x-svc-attempt'])

const linesOf = (traceId: string): LogLine[] =>
  Object.keys(readStack().processes)
    .filter((name) => /^(api|fanout|delivery-worker)-/.test(name))
    .flatMap(logOf)
    .filter((line) => line.includes(traceId))
    .map((line) => JSON.parse(line) as LogLine)

const childrenOf = (parents: readonly CollectedSpan[], spans: readonly CollectedSpan[]): CollectedSpan[] =>
  spans.filter(({ parentSpanId }) => parents.some(({ spanId }) => spanId === parentSpanId))

test('a command, its event and every attempt at every subscription form one trace, in logs and spans', async () => {
  const { traceId, traceparent } = newTrace()
  const sent = await acme.request('POST', STATE_PATH, { statusCode: 66 }, { traceparent })
  expect(sent.status).toBe(202)
  await eventually(() => expect(attemptsOf(agentUri, FAILING)).toEqual(['1', '2']))
  expect(receiver.requests().flatMap(({ headers }) => Object.keys(headers))).not.toContain('traceparent')

  await eventually(() => {
    const lines = linesOf(traceId).map(({ service, message, subscriptionId, attempt }) =>
      [service, message, subscriptionId, attempt].filter((part) => part !== undefined).join(' '),
    )
    expect(lines.toSorted()).toEqual(
      [
        'api request',
        'api audit',
        'api event relayed',
        'fanout event fanned out',
        `delivery-worker delivery.attempted ${well.id} 1`,
        `delivery-worker delivery.attempted ${failing.id} 1`,
        `delivery-worker delivery.attempted ${failing.id} 2`,
      ].toSorted(),
    )
  })

  await eventually(() => {
    const spans = collector.spans(traceId)
    const [request, ...more] = spans.filter(({ parentSpanId }) => parentSpanId === traceparent.split('-')[2])
    expect(more).toEqual([])
    expect(request).toMatchObject({
      service: 'api',
      name: 'POST /api/v1/voice/agents/{agentUri}/presence',
      kind: 'server',
      attributes: { 'http.response.status_code': 202, 'switchhook.client_id': 'acme-app' },
    })
    const relayed = childrenOf(request === undefined ? [] : [request], spans)
    expect(relayed).toMatchObject([{ service: 'api', name: 'send switchhook.events', kind: 'producer' }])
    const fanned = childrenOf(relayed, spans)
    expect(fanned).toMatchObject([{ service: 'fanout', name: 'process switchhook.events', kind: 'consumer' }])
    const published = childrenOf(fanned, spans)
    expect(new Set(published.map(({ attributes }) => attributes['switchhook.subscription_id']))).toEqual(
      new Set([well.id, failing.id]),
    )
    const turns = childrenOf(published, spans)
    const posts = childrenOf(turns, spans)
    const told = posts.map(({ attributes, service }) => [
      service,
      attributes['url.path'],
      attributes['switchhook.slot'],
      attributes['switchhook.attempt'],
      attributes['http.response.status_code'],
    ])
    expect(told.toSorted((one, other) => String(one).localeCompare(String(other)))).toEqual([
      ['delivery-worker', '/failing', 0, 1, 503],
      ['delivery-worker', '/failing', 1, 2, 204],
      ['delivery-worker', '/well', 0, 1, 204],
    ])
    expect(spans).toHaveLength(1 + 1 + 1 + 2 + 3 + 3)
  })
  expect(JSON.stringify(collector.spans(traceId))).not.toContain('secret')
})

test('later events of a call belong to the trace of its dial, and unsolicited events have their own trace', async () => {
  const calls = await acme.subscribe(receiver.url('/calls'))
  const { traceId, traceparent } = newTrace()
  const dial = { agentUri: 'sip:e2e-191@acme.example', destination: '+15550101' }
  const { status } = await acme.request('POST', '/voice/calls/dial', dial, { traceparent })
  expect(status).toBe(202)
  const states = (): unknown[] =>
    receiver
      .requests('/calls')
      .map(({ body }) => (JSON.parse(body.toString()) as { data: { agentUri: string; state: number } }).data)
      .filter((data) => data.agentUri === dial.agentUri)
      .map(({ state }) => state)
  await eventually(() => expect(states()).toContain(7))
  await eventually(() => {
    const attempted = linesOf(traceId).filter(({ subscriptionId }) => subscriptionId === calls.id)
    expect(attempted).toHaveLength(states().length)
  })

  const { traceId: rung, ...ring } = { ...newTrace(), traceparent: 'not a trace context' }
  const base = readStack().urls.apis[0]
  const inbound = await fetch(`${base}/simulator/v1/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ring },
    body: JSON.stringify({ agentUri: 'sip:e2e-192@acme.example', from: '+15550199', ringForSeconds: 1 }),
  })
  expect(inbound.ok).toBe(true)
  await eventually(() => {
    const lines = Object.keys(readStack().processes)
      .filter((name) => name.startsWith('delivery-worker-'))
      .flatMap(logOf)
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ subscriptionId, traceId: its }) => subscriptionId === calls.id && its !== traceId)
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line.traceId).toMatch(/^[0-9a-f]{32}$/)
    // For an event after the request, the event itself carries the trace.
    expect(lines.some((line) => line.traceId === line.eventId?.replaceAll('-', ''))).toBe(true)
  })
  expect(rung).not.toBe(traceId)
  await acme.unsubscribe(calls.id)
})
