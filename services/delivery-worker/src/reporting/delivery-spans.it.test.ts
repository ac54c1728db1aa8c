import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { newTraceparent, traceIdOf } from '@switchhook/contracts'
import { createContextOnly, tracePublishDelivery } from '@switchhook/runtime'
import { eventually, inherited, startReceiver, startTraceCollector, type TraceCollector } from '@switchhook/testkit'
import { createDeliverySpans } from './delivery-spans.ts'

let collector: TraceCollector
beforeEach(async () => {
  collector = await startTraceCollector()
})
afterEach(() => collector.close())

interface Scenario {
  readonly process: ChildProcess
  readonly lines: () => unknown[]
  readonly ended: Promise<{ readonly result: unknown; readonly closedMs: number; readonly logged: unknown[] }>
}

/** Starts a scenario of testing/trace-scenarios.ts. */
function start(name: string, input = '', env: Readonly<Record<string, string>> = {}): Scenario {
  const script = join(import.meta.dirname, '../testing/trace-scenarios.ts')
  const child = spawn(process.execPath, ['--conditions=source', script, name, input], {
    env: {
      ...inherited(),
      AMQP_URL: 'amqp://unused',
      REDIS_URL: 'redis://unused',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const lines = (): unknown[] =>
    output.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]))
  const ended = once(child, 'close').then(([code]) => {
    expect(code).toBe(0)
    const logged = lines()
    return { ...(logged.pop() as { result: unknown; closedMs: number }), logged }
  })
  return { process: child, lines, ended }
}

const runScenario = (...scenario: Parameters<typeof start>): Scenario['ended'] => start(...scenario).ended

test('two attempts of one delivery are siblings in its trace, each with a span for the message and one for the POST', async () => {
  const command = newTraceparent()
  const { result } = await runScenario('retried', command)
  const spans = collector.spans(traceIdOf(command))
  expect(spans).toEqual(collector.spans())
  const [producer, ...others] = spans.filter(({ kind }) => kind === 'producer')
  expect(others).toEqual([])
  expect(producer).toMatchObject({ name: 'send switchhook.delivery', parentSpanId: command.split('-')[2] })
  expect(result).toBe(`00-${traceIdOf(command)}-${producer?.spanId}-01`)

  const messages = spans.filter(({ kind }) => kind === 'consumer')
  expect(messages.map(({ parentSpanId }) => parentSpanId)).toEqual([producer?.spanId, producer?.spanId])
  expect(messages.map(({ attributes }) => attributes)).toEqual([
    expect.objectContaining({
      'switchhook.slot': 0,
      'switchhook.attempt': 1,
      'switchhook.outcome': 'answered',
      'switchhook.decision': 'retry',
      'switchhook.delivery_id': producer?.attributes['switchhook.delivery_id'],
    }),
    expect.objectContaining({ 'switchhook.slot': 1, 'switchhook.attempt': 2, 'switchhook.decision': 'acknowledged' }),
  ])

  const posts = spans.filter(({ kind }) => kind === 'client')
  expect(posts.map(({ parentSpanId }) => parentSpanId)).toEqual(messages.map(({ spanId }) => spanId))
  expect(posts.map(({ isError }) => isError)).toEqual([true, false])
  expect(posts.map(({ attributes }) => attributes)).toEqual([
    expect.objectContaining({
      'http.request.method': 'POST',
      'server.address': 'client.example',
      'server.port': 8443,
      'url.path': '/hook',
      'http.response.status_code': 503,
      'error.type': '503',
      'switchhook.attempt': 1,
    }),
    expect.objectContaining({ 'http.request.resend_count': 1, 'http.response.status_code': 204 }),
  ])
  expect(JSON.stringify(spans)).not.toMatch(/secret|private/)
})

test('an unreachable endpoint and our own failures are marked as errors', async () => {
  expect((await runScenario('failures')).result).toBe('RangeError: no sockets')
  const errors = collector.spans().filter(({ isError }) => isError)
  expect(new Set(errors.map(({ attributes }) => attributes['error.type']))).toEqual(new Set(['RangeError', 'timeout']))
})

test('a trace that the client did not sample is not exported, and its context is passed on', async () => {
  const unsampled = newTraceparent().replace(/01$/, '00')
  const { result } = await runScenario('continued', unsampled)
  expect(result).toMatch(new RegExp(`^00-${traceIdOf(unsampled)}-[0-9a-f]{16}-00$`))
  expect(collector.spans().map(({ name }) => name)).toEqual(['begun'])
})

test('the configured sampler decides about new traces', async () => {
  const none = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
  await runScenario('continued', newTraceparent(), none)
  expect(collector.spans().map(({ name }) => name)).toEqual(['continued'])
})

test('a trace starts with the requested id, and the next one with another', async () => {
  const traceId = traceIdOf(newTraceparent())
  await runScenario('two roots', traceId)
  const [ofEvent, ...others] = collector.spans(traceId)
  expect([ofEvent?.name, others]).toEqual(['of an event', []])
  expect(ofEvent).not.toHaveProperty('parentSpanId')
  expect(collector.spans()).toHaveLength(2)
})

test('an unavailable collector delays no delivery, is logged once, and is used again when it returns', async () => {
  await collector.close()
  const load = start('load', '', { OTEL_EXPORTER_OTLP_TIMEOUT: '200' })
  await eventually(() => expect(load.lines()).toEqual(['traces cannot be exported; they are dropped']))
  collector = await startTraceCollector({ port: Number(new URL(collector.endpoint).port) })
  await eventually(() =>
    expect(load.lines()).toEqual(['traces cannot be exported; they are dropped', 'traces are exported again']),
  )
  load.process.stdin?.end()
  const { result, logged } = await load.ended
  expect(logged).toHaveLength(2)
  // A failed export takes 200 ms, so a worker that waited for exports would handle only a few deliveries.
  expect(result).toBeGreaterThan(100)
})

test('a collector that accepts spans and never answers does not delay the shutdown', async () => {
  const hanging = await startReceiver({ instead: 'hang' })
  const { closedMs, logged } = await runScenario('continued', newTraceparent(), {
    OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url(''),
  })
  expect(closedMs).toBeLessThan(4_000)
  expect(logged).toEqual(['the last traces could not be exported'])
  await hanging.close()
})

test('without an exporter, handlers are returned unchanged', () => {
  const tracing = createContextOnly()
  const traced = createDeliverySpans(tracing)
  const handle = async (): Promise<void> => {}
  expect(traced.handle('delivery.due', handle)).toBe(handle)
  expect(tracePublishDelivery(tracing, handle)).toBe(handle)
})
