import { newTraceparent, readTraceparent, traceIdOf } from '@switchhook/contracts'
import { loadConfig } from '../config/config.ts'
import { createContextOnly, spanned } from './tracing.ts'
import { tracingFields } from './tracing-fields.ts'

const start = { name: 'work', kind: 'consumer' } as const

test('without an export a context is handed on as it came', () => {
  const parent = newTraceparent()
  const span = createContextOnly().begin({ ...start, parent })
  expect(span.traceparent).toBe(parent)
})

test('without an export a trace begins where there is none, under the id that is asked for', () => {
  const tracing = createContextOnly()
  const drawn = tracing.begin({ ...start, parent: undefined }).traceparent
  expect(readTraceparent(drawn)).toBe(drawn)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  expect(traceIdOf(tracing.begin({ ...start, parent: undefined, traceId }).traceparent)).toBe(traceId)
})

test('without an export nobody is asked for attributes', () => {
  const attributes = (): never => {
    throw new Error('asked')
  }
  const span = createContextOnly().begin({ ...start, parent: undefined, attributes })
  expect(() => span.note(attributes)).not.toThrow()
})

test('work that throws ends its span with what was thrown, and throws it on', async () => {
  const ended: (string | undefined)[] = []
  const span = {
    traceparent: newTraceparent(),
    note() {},
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
    'an endpoint that is no url',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    /OTEL_EXPORTER_OTLP_ENDPOINT must be a url/,
  ],
  [
    'a protocol that is not spoken',
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /OTEL_EXPORTER_OTLP_PROTOCOL must be one of/,
  ],
  ['an unknown sampler', { OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /OTEL_TRACES_SAMPLER must be one of/],
  ['more than all', { OTEL_TRACES_SAMPLER_ARG: '1.5' }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
  ['no number', { OTEL_TRACES_SAMPLER_ARG: 'half' }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
])('%s stops the start', (_what, env, problem) => {
  expect(() => loadConfig(tracingFields, env)).toThrow(problem)
})

test('by default nothing is exported; a part of the traces may be', () => {
  expect(loadConfig(tracingFields, {})).toMatchObject({
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
  })
  expect(loadConfig(tracingFields, { OTEL_TRACES_SAMPLER_ARG: '0.05' }).OTEL_TRACES_SAMPLER_ARG).toBe(0.05)
})
