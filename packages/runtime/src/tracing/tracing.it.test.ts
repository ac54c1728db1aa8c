import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
  expect(loaded).toContainEqual(expect.stringContaining('tracing/tracing.ts'))
  // The API alone does nothing without an SDK, and prom-client always loads it.
  return loaded.filter((url) => url.includes('@opentelemetry') && !url.includes('@opentelemetry/api/'))
}

test('the OpenTelemetry SDK is loaded only if spans are exported', async () => {
  expect(await loadedWith({})).toEqual([])
  expect(await loadedWith({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' })).toEqual([])
  const exporting = await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
  expect(exporting).toContainEqual(expect.stringContaining('exporter-trace-otlp-http'))
})
