import { once } from 'node:events'
import { connect } from 'node:net'
import { startHealthServer } from './health-server.ts'

type HealthServer = Awaited<ReturnType<typeof startHealthServer>>

import { createMetrics } from './metrics.ts'
import { VERSION } from './version.ts'

let health: HealthServer
const opened: HealthServer[] = []

async function open(service: string): Promise<HealthServer> {
  const metrics = createMetrics(service)
  // More than fits into the buffers of a connection.
  metrics.gauges('large', '', () =>
    Array.from({ length: service === 'large' ? 20 : 0 }, (_, n) => ({
      labels: { n: `${n}`.repeat(1_000_000) },
      value: 1,
    })),
  )
  const server = await startHealthServer({ port: 0, metrics })
  opened.push(server)
  return server
}

const state = { redis: true, rabbitmq: true }

beforeEach(async () => {
  state.redis = true
  state.rabbitmq = true
  health = await open('worker')
  health.readyWhen({ redis: () => state.redis, rabbitmq: () => state.rabbitmq })
})
afterEach(() => Promise.all(opened.splice(0).map((server) => server.close())))

const get = (path: string) => fetch(`http://127.0.0.1:${health.port}${path}`)

test('/healthz answers 200 while a dependency is down', async () => {
  state.redis = false
  const answer = await get('/healthz')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ status: 'ok', version: VERSION })
})

test('/readyz answers 200 when every check holds', async () => {
  const answer = await get('/readyz?verbose')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ status: 'ready', checks: { redis: true, rabbitmq: true } })
})

test('/readyz answers 503 and names the failed check until it holds again', async () => {
  state.rabbitmq = false
  const answer = await get('/readyz')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({ status: 'not ready', checks: { redis: true, rabbitmq: false } })
  state.rabbitmq = true
  expect((await get('/readyz')).status).toBe(200)
})

test('a failed optional check is listed as degraded and exported, and the process stays ready', async () => {
  const api = await open('api')
  api.readyWhen({ redis: () => state.redis }, { rabbitmq: () => state.rabbitmq })
  const ask = async () => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/readyz`)
    return { status: answer.status, body: await answer.json() }
  }
  const metrics = async () => await (await fetch(`http://127.0.0.1:${api.port}/metrics`)).text()
  expect(await ask()).toEqual({ status: 200, body: { status: 'ready', checks: { redis: true } } })
  expect(await metrics()).toContain('switchhook_degraded{check="rabbitmq",service="api"} 0')
  state.rabbitmq = false
  const degraded = ['rabbitmq']
  expect(await ask()).toEqual({ status: 200, body: { status: 'ready', checks: { redis: true }, degraded } })
  const text = await metrics()
  expect(text).toContain('switchhook_degraded{check="rabbitmq",service="api"} 1')
  expect(text).not.toContain('switchhook_ready{check="rabbitmq"')
  state.redis = false
  expect(await ask()).toEqual({ status: 503, body: { status: 'not ready', checks: { redis: false }, degraded } })
})

test('during the start-up a process is alive, not ready, and exports metrics', async () => {
  const starting = await open('starting')
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${starting.port}${path}`)).status
  expect(await Promise.all(['/healthz', '/readyz', '/metrics'].map(statusOf))).toEqual([200, 503, 200])
  starting.readyWhen({})
  expect(await statusOf('/readyz')).toBe(200)
})

test('/metrics is Prometheus text with the service as a label', async () => {
  const answer = await get('/metrics')
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await answer.text()).toMatch(/^process_cpu_seconds_total\{service="worker"\} [\d.]+/m)
})

test('/metrics shows the version', async () => {
  expect(await (await get('/metrics')).text()).toContain(
    `switchhook_build_info{version="${VERSION}",service="worker"} 1`,
  )
})

test('/metrics shows which readiness checks hold', async () => {
  state.redis = false
  const text = await (await get('/metrics')).text()
  expect(text).toContain('switchhook_ready{check="redis",service="worker"} 0')
  expect(text).toContain('switchhook_ready{check="rabbitmq",service="worker"} 1')
})

test('any other path is not found', async () => {
  for (const path of ['/', '/healthz/x', '//healthz']) expect((await get(path)).status).toBe(404)
})

test('two servers in one process do not share metrics, and a port in use is an error', async () => {
  const other = await open('other')
  expect(await (await fetch(`http://127.0.0.1:${other.port}/metrics`)).text()).not.toContain('worker')
  await expect(startHealthServer({ port: other.port, metrics: createMetrics('third') })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})

test('closing does not wait for open connections', async () => {
  const other = await open('other')
  const socket = connect(other.port, '127.0.0.1')
  await once(socket, 'connect')
  await other.close()
  socket.destroy()
})

test('requests that are sent ahead are not answered; the same path, asked again and again, is', async () => {
  const socket = connect({ port: health.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  let answers = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    answers += text
  })
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000))
  await once(socket, 'close')
  expect(answers.match(/^HTTP\/1\.1 /gm)).toHaveLength(1)
  for (let n = 0; n < 10; n++) expect((await get('/healthz')).status).toBe(200)
})

test('of requests without Host that are sent ahead, the first is answered 400', async () => {
  const socket = connect({ port: health.port, host: '127.0.0.1' }).setEncoding('latin1')
  socket.on('error', () => {})
  let answers = ''
  socket.on('data', (text: string) => {
    answers += text
  })
  socket.write('GET /healthz HTTP/1.1\r\n\r\n'.repeat(3_000))
  await once(socket, 'close')
  expect(answers.match(/HTTP.*/g)).toEqual(['HTTP/1.1 400 Bad Request'])
})

test.each([1, 2])('closes while a client that sent %d requests reads nothing', async (times) => {
  const { port, close } = await open('large')
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(times))
  await once(socket, 'readable')
  await close()
})
