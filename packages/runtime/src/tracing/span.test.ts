import { newTraceparent, readTraceparent, traceIdOf } from '@switchhook/contracts'
import { tracingFields } from '../config/common-fields.ts'
import { loadConfig } from '../config/config.ts'
import { createContextOnly, spanned } from './span.ts'

const start = { name: 'work', kind: 'consumer' } as const

test('without export a trace context is passed on unchanged', () => {
  const parent = newTraceparent()
  const span = createContextOnly().begin({ ...start, parent })
  expect(span.traceparent).toBe(parent)
})

test('without export a missing trace context is created, with the given trace id', () => {
  const tracing = createContextOnly()
  const drawn = tracing.begin({ ...start, parent: undefined }).traceparent
  expect(readTraceparent(drawn)).toBe(drawn)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  expect(traceIdOf(tracing.begin({ ...start, parent: undefined, traceId }).traceparent)).toBe(traceId)
})

test('without export attributes are not computed', () => {
  const attributes = (): never => {
    throw new Error('called')
  }
  const span = createContextOnly().begin({ ...start, parent: undefined, attributes })
  expect(() => span.setAttributes(attributes)).not.toThrow()
})

test('work that throws ends its span with the name of the error, and the error is rethrown', async () => {
  const ended: (string | undefined)[] = []
  const span = {
    traceparent: newTraceparent(),
    setAttributes() {},
    rename() {},
    end: (failure?: string) => void ended.push(failure),
  }
  const tracing = { ...createContextOnly(), begin: () => span }
  const error = new TypeError('broken')
  await expect(spanned(tracing, { ...start, parent: undefined }, () => Promise.reject(error))).rejects.toBe(error)
  await expect(spanned(tracing, { ...start, parent: undefined }, async () => 7)).resolves.toBe(7)
  expect(ended).toEqual(['TypeError', undefined])
})

test.each<[string, Record<string, string>, RegExp]>([
  [
    'an endpoint that is not a URL',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/,
  ],
  ['an unsupported protocol', { OTEL_EXPORTER_OTLP_PROTOCOL: 'http' }, /OTEL_EXPORTER_OTLP_PROTOCOL must be one of/],
  ['another exporter', { OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER must be one of otlp, none/],
  ['an unknown sampler', { OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER must be one of/],
  ['a ratio above 1', { OTEL_TRACES_SAMPLER_ARG: '1.5' }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
  [
    'a ratio that is not a number',
    { OTEL_TRACES_SAMPLER_ARG: 'half' },
    /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/,
  ],
])('%s is rejected at start-up', (_case, env, problem) => {
  expect(() => loadConfig(tracingFields, env)).toThrow(problem)
})

test('by default nothing is exported; the sampling ratio is configurable', () => {
  expect(loadConfig(tracingFields, {})).toMatchObject({
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  })
  expect(loadConfig(tracingFields, { OTEL_TRACES_SAMPLER_ARG: '0.05' }).OTEL_TRACES_SAMPLER_ARG).toBe(0.05)
})
