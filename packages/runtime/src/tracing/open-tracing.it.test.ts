import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually, startReceiver } from '@switchhook/testkit'
import { tracingFields } from '../config/common-fields.ts'
import { loadConfig } from '../config/config.ts'
import { openTracing } from './open-tracing.ts'

/** Opens tracing in a process of its own and returns the OpenTelemetry modules that it loaded. */
async function loadedWith(env: Readonly<Record<string, string>>): Promise<string[]> {
  const script = `
    import { registerHooks } from 'node:module'
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })
    const { commonFields, createLogger, loadConfig, openTracing } = await import(${JSON.stringify(join(import.meta.dirname, '../index.ts'))})
    const { AMQP_URL: _, REDIS_URL: __, ...fields } = commonFields
    const tracing = await openTracing({ config: loadConfig(fields, process.env), service: 'test', log: createLogger('test', 'error') })
    await tracing.close()
  `
  const args = ['--conditions=source', '--input-type=module', '--eval', script]
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...env, PATH, NODE_COMPILE_CACHE } })
  const loaded = stdout.split('\n').filter((line) => line.startsWith('file:'))
  expect(loaded).toContainEqual(expect.stringContaining('tracing/open-tracing.ts'))
  // The API alone does nothing without an SDK, and prom-client always loads it.
  return loaded.filter((url) => url.includes('@opentelemetry') && !url.includes('@opentelemetry/api/'))
}

test('the OpenTelemetry SDK is loaded only if spans are exported', async () => {
  expect(await loadedWith({})).toEqual([])
  expect(await loadedWith({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' })).toEqual([])
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
  expect(await loadedWith({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toEqual([])
  expect(await loadedWith({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toEqual([])
  const exporting = await loadedWith(endpoint)
  expect(exporting).toContainEqual(expect.stringContaining('exporter-trace-otlp-proto'))
  expect(exporting).not.toContainEqual(expect.stringContaining('exporter-trace-otlp-grpc'))
})

/** Exports one span with these variables, which the exporter reads itself. */
async function exportSpan(env: Readonly<Record<string, string>>): Promise<void> {
  const before = { ...process.env }
  Object.assign(process.env, env)
  try {
    const log = { error() {}, warn() {}, info() {}, debug() {} }
    const tracing = await openTracing({ config: loadConfig(tracingFields, env), service: 'test', log })
    tracing.begin({ name: 'span of the test', kind: 'server', parent: undefined }).end()
    await tracing.close()
  } finally {
    process.env = before
  }
}

test('spans travel as http/protobuf by default', async () => {
  const collector = await startReceiver({ status: 200 })
  try {
    await exportSpan({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url('') })
    const [request, ...others] = collector.requests('/v1/traces')
    expect(others).toEqual([])
    expect(request?.headers['content-type']).toBe('application/x-protobuf')
    expect(request?.body.includes('span of the test')).toBe(true)
  } finally {
    await collector.close()
  }
})

test.each(['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'])(
  '%s=grpc sends spans over gRPC',
  async (name) => {
    const received: { path: string | undefined; body: Buffer }[] = []
    const server = createServer()
    server.on('stream', (stream, { ':path': path }) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      stream.on('end', () => {
        received.push({ path, body: Buffer.concat(chunks) })
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
        // An empty message: a flag and the length.
        stream.end(Buffer.alloc(5))
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    try {
      await exportSpan({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, [name]: 'grpc' })
      await eventually(() => expect(received).toHaveLength(1))
      expect(received[0]?.path).toBe('/opentelemetry.proto.collector.trace.v1.TraceService/Export')
      expect(received[0]?.body.includes('span of the test')).toBe(true)
    } finally {
      server.close()
    }
  },
)
