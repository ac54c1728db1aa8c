import { type Delivery, newTraceparent, type Outcome, traceIdOf } from '@switchhook/contracts'
import {
  answerWithin,
  createContextOnly,
  loadConfig,
  openTracing,
  type Tracing,
  tracePublishDelivery,
  tracingFields,
} from '@switchhook/runtime'
import { anAttempt } from '@switchhook/servicekit'
import {
  type Answer,
  aDelivery,
  eventually,
  startReceiver,
  startTraceCollector,
  type TraceCollector,
} from '@switchhook/testkit'
import { resultOf } from '../policy/classify.ts'
import type { Decision } from '../policy/decide.ts'
import { createDeliverySpans } from './delivery-spans.ts'

const EXPORT_TIMEOUT_MS = 200

let collector: TraceCollector
/** The logged lines. */
let logged: string[]
beforeEach(async () => {
  logged = []
  collector = await startTraceCollector()
})
afterEach(() => collector.close())

/** Runs `work` with traces that are exported to the collector, and ends them. */
async function exporting<Result>(
  work: (tracing: Tracing) => Promise<Result>,
  env: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const lines = logged
  const note = (message: string): void => void lines.push(message)
  // The exporter reads its endpoint itself.
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...env }
  Object.assign(process.env, settings)
  const tracing = await openTracing({
    config: loadConfig(tracingFields, settings),
    service: 'delivery-worker',
    log: { error: note, warn: note, info: note, debug: note },
  })
  try {
    return await work(tracing)
  } finally {
    await tracing.close()
  }
}

const tracedDelivery = (change: Partial<Delivery> = {}): Delivery =>
  aDelivery({
    url: 'https://client.example:8443/hook?token=secret',
    traceparent: newTraceparent(),
    body: Buffer.from('{"data":"private"}'),
    ...change,
  })

/** A worker reduced to the steps that have spans. */
function worker(tracing: Tracing, outcome: Outcome): (delivery: Delivery) => Promise<void> {
  const { handle, observer } = createDeliverySpans(tracing)
  return handle('delivery.due', async (delivery) => {
    const attempt = anAttempt({ slot: delivery.slot, attempt: delivery.attempt + 1, ...resultOf(outcome) })
    const ended = observer.posting?.(delivery, attempt.attempt)
    await new Promise(setImmediate)
    ended?.({ kind: 'posted', delivery, outcome, durationMs: 0 })
    const decision: Decision =
      outcome.kind === 'delivered' ? { kind: 'acknowledged' } : { kind: 'retry', slot: 1, waitMs: 10 }
    observer.concluded?.(delivery, attempt, decision, outcome)
  })
}

/** Continues a trace, and begins another one. Resolves to the context of the continued one. */
async function continued(tracing: Tracing, parent: string): Promise<string> {
  const span = tracing.begin({ name: 'continued', kind: 'server', parent })
  span.end()
  tracing.begin({ name: 'begun', kind: 'server', parent: undefined }).end()
  return span.traceparent
}

test('two attempts of one delivery are siblings in its trace, each with a span for the message and one for the POST', async () => {
  const command = newTraceparent()
  const published: Delivery[] = []
  await exporting(async (tracing) => {
    const publish = tracePublishDelivery(tracing, async (delivery) => void published.push(delivery))
    await publish(tracedDelivery({ traceparent: command }))
    const [delivery] = published as [Delivery]
    await worker(tracing, { kind: 'answered', status: 503 })(delivery)
    await worker(tracing, { kind: 'delivered', status: 204 })({ ...delivery, slot: 1, attempt: 1 })
  })
  const spans = collector.spans(traceIdOf(command))
  expect(spans).toEqual(collector.spans())
  const [producer, ...others] = spans.filter(({ kind }) => kind === 'producer')
  expect(others).toEqual([])
  expect(producer).toMatchObject({ name: 'send switchhook.delivery', parentSpanId: command.split('-')[2] })
  expect(published[0]?.traceparent).toBe(`00-${traceIdOf(command)}-${producer?.spanId}-01`)

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
  const error = new RangeError('no sockets')
  await exporting(async (tracing) => {
    await worker(tracing, { kind: 'unreachable', reason: 'timeout' })(tracedDelivery())
    const broken = createDeliverySpans(tracing).handle('delivery.due', () => Promise.reject(error))
    await expect(broken(tracedDelivery())).rejects.toBe(error)
  })
  const errors = collector.spans().filter(({ isError }) => isError)
  expect(new Set(errors.map(({ attributes }) => attributes['error.type']))).toEqual(new Set(['RangeError', 'timeout']))
})

test('a trace that the client did not sample is not exported, and its context is passed on', async () => {
  const unsampled = newTraceparent().replace(/01$/, '00')
  const context = await exporting((tracing) => continued(tracing, unsampled))
  expect(context).toMatch(new RegExp(`^00-${traceIdOf(unsampled)}-[0-9a-f]{16}-00$`))
  expect(collector.spans().map(({ name }) => name)).toEqual(['begun'])
})

test('the configured sampler decides about new traces', async () => {
  const none = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
  await exporting((tracing) => continued(tracing, newTraceparent()), none)
  expect(collector.spans().map(({ name }) => name)).toEqual(['continued'])
})

test('a trace starts with the requested id, and the next one with another', async () => {
  const traceId = traceIdOf(newTraceparent())
  await exporting(async (tracing) => {
    tracing.begin({ name: 'of an event', kind: 'producer', parent: undefined, traceId }).end()
    tracing.begin({ name: 'other', kind: 'producer', parent: undefined }).end()
  })
  const [ofEvent, ...others] = collector.spans(traceId)
  expect([ofEvent?.name, others]).toEqual(['of an event', []])
  expect(ofEvent).not.toHaveProperty('parentSpanId')
  expect(collector.spans()).toHaveLength(2)
})

test('an unavailable collector delays no delivery, is logged once, and is used again when it returns', async () => {
  await collector.close()
  // The exporter reads it itself.
  process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] = String(EXPORT_TIMEOUT_MS)
  let handled = 0
  const beganMs = Date.now()
  await exporting(async (tracing) => {
    delete process.env['OTEL_EXPORTER_OTLP_TIMEOUT']
    const work = worker(tracing, { kind: 'delivered', status: 204 })
    const stop = new AbortController()
    const load = (async () => {
      for (; !stop.signal.aborted; handled++) await work(tracedDelivery())
    })()
    try {
      await eventually(() => expect(logged).toEqual(['traces cannot be exported; they are dropped']))
      collector = await startTraceCollector({ port: Number(new URL(collector.endpoint).port) })
      await eventually(() =>
        expect(logged).toEqual(['traces cannot be exported; they are dropped', 'traces are exported again']),
      )
    } finally {
      stop.abort()
      await load
    }
  })
  expect(logged).toHaveLength(2)
  // A worker that waited for exports would handle one delivery in the time of a failed export.
  expect(handled).toBeGreaterThan((2 * (Date.now() - beganMs)) / EXPORT_TIMEOUT_MS)
})

test('a collector that accepts spans and never answers does not delay the shutdown', async () => {
  const { promise: late, resolve: answer } = Promise.withResolvers<Answer>()
  const hanging = await startReceiver(() => late)
  const ended = exporting((tracing) => continued(tracing, newTraceparent()), {
    OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url(''),
  })
  // The exporter itself would wait for ten seconds.
  await answerWithin(8_000, ended, 'late')
  expect(logged).toEqual(['the last traces could not be exported'])
  // Otherwise the exporter would repeat its request during the tests of other files.
  answer({ status: 400 })
  await eventually(() => expect(logged.at(-1)).toBe('traces cannot be exported; they are dropped'))
  await hanging.close()
})

test('without an exporter, handlers are returned unchanged', () => {
  const tracing = createContextOnly()
  const traced = createDeliverySpans(tracing)
  const handle = async (): Promise<void> => {}
  expect(traced.handle('delivery.due', handle)).toBe(handle)
  expect(tracePublishDelivery(tracing, handle)).toBe(handle)
})
