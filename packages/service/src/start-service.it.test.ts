import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  eventually,
  inherited,
  makeCertificateAuthority,
  startTcpProxy,
  startTlsProxy,
  type TcpProxy,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
} from '@switchhook/testkit'

const index = JSON.stringify(join(import.meta.dirname, 'index.ts'))

let rabbit: TestBroker
let redisServer: TestRedis
let redisProxy: TcpProxy
const services: Service[] = []

beforeEach(async () => {
  ;[rabbit, redisServer] = await Promise.all([testBroker(), testRedis()])
  redisProxy = await startTcpProxy(redisServer.redisUrl)
})

afterEach(async () => {
  for (const { process: child, exitCode } of services.splice(0)) {
    child.kill('SIGKILL')
    await exitCode
  }
  await redisProxy.close()
  await Promise.all([rabbit.close(), redisServer.close()])
})

interface LogLine {
  readonly message: string
  readonly [field: string]: unknown
}

interface Service {
  readonly process: ChildProcess
  readonly exitCode: Promise<number | null>
  /** The log lines with this message. */
  logged(message: string): readonly LogLine[]
  errors(): string
}

/** Runs a service in a process of its own. `start` is the source text of its start function's body. */
function run(start: string, env: Readonly<Record<string, string>> = {}): Service {
  const script = `
    import { serviceTopology } from '@switchhook/messaging'
    import { commonFields } from '@switchhook/runtime'
    import { openBacking, startService } from ${index}
    const rules = [({ LOG_LEVEL }) => LOG_LEVEL === 'warn' ? 'LOG_LEVEL=warn is not allowed here' : undefined]
    startService({ name: 'sample', fields: commonFields, rules }, async (service) => {
      const { config, log, shutdown } = service
      ${start}
    })`
  const child = spawn(process.execPath, ['--conditions=source', '--input-type=module', '--eval', script], {
    cwd: import.meta.dirname,
    env: {
      ...inherited(),
      AMQP_URL: rabbit.amqpUrl,
      REDIS_URL: redisProxy.url,
      HEALTH_PORT: '0',
      NODE_ENV: 'test',
      LOG_LEVEL: 'debug',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => (output[name] += chunk.toString()))
  }
  const service: Service = {
    process: child,
    exitCode: once(child, 'close').then(([code]) => code as number | null),
    logged: (message) =>
      output.stdout
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as LogLine)
        .filter((line) => line.message === message),
    errors: () => output.stderr,
  }
  services.push(service)
  return service
}

const WITH_BACKING = `
  const { readiness } = await openBacking(service, { topology: () => serviceTopology([]) })
  shutdown.defer('part', () => {})
  return { readiness, optional: { extra: () => false }, details: { concurrency: 7 } }`

/** Resolves to the health port. */
async function started(service: Service): Promise<number> {
  await eventually(() => expect(service.logged('started')).toHaveLength(1), { timeoutMs: 20_000 })
  const [line] = service.logged('started')
  expect(line).toMatchObject({ service: 'sample', concurrency: 7, healthPort: expect.any(Number) as number })
  return Number(line?.['healthPort'])
}

const readyz = async (port: number): Promise<unknown> => {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`)
  return { code: response.status, ...((await response.json()) as object) }
}

test('a started service reports `started` and its readiness, and SIGTERM closes its parts in reverse order', async () => {
  const service = run(WITH_BACKING)
  const port = await started(service)
  const checks = { redis: true, rabbitmq: true, consumers: true, clock: true, installation: true }
  expect(await readyz(port)).toEqual({ code: 200, status: 'ready', checks, degraded: ['extra'] })
  service.process.kill('SIGTERM')
  expect(await service.exitCode).toBe(0)
  expect(service.logged('closed').map(({ step }) => step)).toEqual([
    'part',
    'broker',
    'installation',
    'clock',
    'redis',
    'tracing',
    'health',
  ])
})

test('readiness follows the backing', async () => {
  const port = await started(run(WITH_BACKING))
  redisProxy.refuse()
  await eventually(async () => expect(await readyz(port)).toMatchObject({ checks: { redis: false, rabbitmq: true } }))
  redisProxy.accept()
  await eventually(async () => expect(await readyz(port)).toMatchObject({ checks: { redis: true } }))
})

test('the health port is open and not ready while `start` runs', async () => {
  const proxy = await startTcpProxy('redis://127.0.0.1')
  await proxy.close()
  const service = run(
    `const [health, ready] = await Promise.all(['healthz', 'readyz'].map((path) =>
       fetch('http://127.0.0.1:' + config.HEALTH_PORT + '/' + path)))
     log.info('asked', { health: health.status, ready: ready.status })
     return { readiness: {} }`,
    { HEALTH_PORT: String(proxy.port) },
  )
  await eventually(() => expect(service.logged('asked')).toMatchObject([{ health: 200, ready: 503 }]))
  await eventually(async () => expect(await readyz(proxy.port)).toMatchObject({ code: 200, checks: {} }))
})

test.each<[string, Record<string, string>, string]>([
  ['a wrong field', { AMQP_URL: 'http://user:secret@host' }, 'AMQP_URL must be'],
  ['a broken rule', { LOG_LEVEL: 'warn' }, 'LOG_LEVEL=warn is not allowed here'],
])('%s ends the process before `start` is called', async (_case, env, problem) => {
  const service = run(`process.stderr.write('start was called'); return { readiness: {} }`, env)
  expect(await service.exitCode).toBe(1)
  expect(service.errors()).toContain(problem)
  expect(service.errors()).not.toMatch(/start was called|secret/)
})

test('debugging output of a library that shows a password ends the start', async () => {
  const service = run('return { readiness: {} }', { DEBUG: '*' })
  expect(await service.exitCode).toBe(1)
  expect(service.errors()).toContain('DEBUG turns on ioredis:redis')
})

test('while its log is not read, a service goes on; the lines that are dropped are counted and told afterwards', async () => {
  const service = run(
    `process.on('SIGUSR2', () => {
       for (let n = 0; n < 20_000; n++) log.info('x'.repeat(1_000))
       log.warn('important')
     })
     return { readiness: {}, details: { concurrency: 7 } }`,
  )
  const port = await started(service)
  service.process.stdout?.pause()
  service.process.kill('SIGUSR2')
  const dropped = await eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const count = Number(/^switchhook_log_lines_dropped_total\S* (\d+)$/m.exec(metrics)?.[1])
    expect(count).toBeGreaterThan(10_000)
    return count
  })
  expect(dropped).toBeLessThan(20_000)
  service.process.stdout?.resume()
  const told = 'log lines were dropped, because the log could not be written'
  await eventually(() => expect(service.logged(told)).toMatchObject([{ level: 'warn', lines: dropped }]))
  expect(service.logged('important')).toHaveLength(1)
})

test('checks of certificates that are turned off end the start in production, and are warned of elsewhere', async () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  // The exporters read this variable themselves, and would then not refuse a collector with another certificate.
  const withCa = run('return { readiness: {} }', { ...env, OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: '/ca.crt' })
  expect(await withCa.exitCode).toBe(1)
  expect(withCa.errors()).toContain('the authority in OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE would not be checked')
  const production = run('return { readiness: {} }', { ...env, NODE_ENV: 'production' })
  expect(await production.exitCode).toBe(1)
  expect(production.errors()).toContain('NODE_TLS_REJECT_UNAUTHORIZED is 0')
  const elsewhere = run('return { readiness: {} }', env)
  await eventually(() => expect(elsewhere.logged('started')).toHaveLength(1))
  const warned = elsewhere.logged(
    'NODE_TLS_REJECT_UNAUTHORIZED is 0: certificates of receivers and identity providers are not checked',
  )
  expect(warned).toHaveLength(1)
})

test('RabbitMQ and Redis are reached over TLS, once their certificates fit, with a password from a file', async () => {
  const [trusted, other] = await Promise.all([makeCertificateAuthority(), makeCertificateAuthority()])
  // The one certificate is of another authority, the other for another host.
  const rabbitProxy = await startTlsProxy(rabbit.amqpUrl, await other.sign('DNS:localhost'))
  const redisTls = await startTlsProxy(redisServer.redisUrl, await trusted.sign('DNS:elsewhere'))
  const { username, password, pathname } = new URL(rabbit.amqpUrl)
  const passwordFile = join(dirname(trusted.caFile), 'password')
  writeFileSync(passwordFile, `${decodeURIComponent(password)}\n`)
  const service = run(WITH_BACKING, {
    AMQP_URL: `amqps://localhost:${rabbitProxy.port}${pathname}`,
    AMQP_USERNAME: username,
    AMQP_PASSWORD_FILE: passwordFile,
    AMQP_CA_FILE: trusted.caFile,
    REDIS_URL: `rediss://localhost:${redisTls.port}${new URL(redisServer.redisUrl).pathname}`,
    REDIS_CA_FILE: trusted.caFile,
    // Left behind by a base image: the checks below hold all the same.
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  })
  const fits = await trusted.sign('DNS:localhost')
  const refusal = (server: string, prefix: string): Promise<LogLine> =>
    eventually(
      () => {
        const [line] = service.logged(
          `${server}'s certificate is not accepted; check ${prefix}_CA_FILE, and that the certificate is for the host in ${prefix}_URL`,
        )
        if (line === undefined) throw new Error(`no refusal of ${server} was logged`)
        return line
      },
      { timeoutMs: 20_000 },
    )
  expect(await refusal('Redis', 'REDIS')).toMatchObject({
    level: 'error',
    error: expect.stringContaining('altnames: Host: localhost') as string,
  })
  redisTls.use(fits)
  expect(await refusal('RabbitMQ', 'AMQP')).toMatchObject({
    level: 'error',
    error: expect.stringContaining('certificate') as string,
  })
  rabbitProxy.use(fits)
  await started(service)
  await Promise.all([rabbitProxy.close(), redisTls.close()])
  trusted.close()
  other.close()
})
