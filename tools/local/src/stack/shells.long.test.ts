import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { httpSucceeds, isTaken, repository, temporaryFolder } from '@switchhook/test-servers'
import { eventually } from '@switchhook/testkit'
import type { StackFile } from './stack-file.ts'

/** What shells have for other programs. */
const SHELL = {
  NODE_ENV: 'production',
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
  LOG_LEVEL: 'trace',
  DEBUG: '*',
  OTEL_TRACES_EXPORTER: 'console',
  RABBITMQ_DEFAULT_USER: 'somebody',
  RABBITMQ_DEFAULT_PASS: 'secret',
  RABBITMQ_DEFAULT_VHOST: 'elsewhere',
  RABBITMQ_PLUGINS_DIR: '/nonexistent',
  RABBITMQ_NODENAME: 'other@elsewhere',
  ERL_FLAGS: '-no_such_flag -sname other',
  ERL_LIBS: '/nonexistent',
  AMQP_USERNAME: 'somebody',
  AMQP_PASSWORD: 'secret',
  REDIS_PASSWORD: 'secret',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  http_proxy: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  NODE_USE_ENV_PROXY: '1',
}

let folder: string
let home: string

beforeAll(() => {
  folder = temporaryFolder('shells-')
  // Letters outside of Latin-1, and a blank.
  home = join(folder, 'zażółć 日本')
})

afterAll(async () => {
  await make('down').ended
  rmSync(folder, { recursive: true })
})

function make(target: string, env: NodeJS.ProcessEnv = {}) {
  const { PATH, HOME, TMPDIR, TEST_RUN } = process.env
  const child = spawn('make', ['--no-print-directory', ...target.split(' ')], {
    cwd: repository,
    // In a group of its own, which a signal reaches as Ctrl+C does.
    detached: true,
    env: {
      PATH,
      HOME,
      TMPDIR,
      TEST_RUN,
      SWITCHHOOK_HOME: home,
      API_PORT: '0',
      DEV_IDP_PORT: '0',
      REPLICAS_WORKER: '1',
      ...env,
    },
  })
  let said = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, said }))
  const interrupt = (signal: NodeJS.Signals = 'SIGINT') => process.kill(-Number(child.pid), signal)
  const closeTerminal = (): void => {
    for (const output of [child.stdout, child.stderr]) output.destroy()
    interrupt('SIGHUP')
  }
  return { ended, interrupt, closeTerminal }
}

const stackFile = (): StackFile => JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as StackFile

async function isReady(): Promise<boolean> {
  const ports = Object.values(stackFile().healthPorts)
  return (await Promise.all(ports.map((port) => httpSucceeds(`http://127.0.0.1:${port}/readyz`)))).every(Boolean)
}

test('up and demo work in a shell with variables of other programs, in a folder of any name', async () => {
  expect(await make('up', SHELL).ended).toMatchObject({ code: 0, said: expect.stringContaining('Switchhook is up.') })
  await expect(isReady()).resolves.toBe(true)
  expect(await make('down', SHELL).ended).toMatchObject({ code: 0 })
  expect(await make('demo', SHELL).ended).toMatchObject({ code: 0, said: expect.stringContaining('Done.') })
}, 180_000)

test('the tests pass in such a shell', async () => {
  // One with a broker and a Redis, and one with a stack and curl.
  const files = 'test FILES=test-broker.it,snippets.e2e'
  const { code, said } = await make(files, { ...SHELL, TEST_RUN: undefined }).ended
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringMatching(/^[1-9]\d* passed, 0 failed$/m) })
}, 300_000)

test('a second make up says that the first is running, and leaves it alone', async () => {
  const both = await Promise.all(['up', 'up'].map((target) => make(target).ended))
  const [first, second] = both.toSorted((a, b) => Number(a.code) - Number(b.code))
  expect(first).toMatchObject({ code: 0, said: expect.stringContaining('Switchhook is up.') })
  expect(second).toMatchObject({
    code: 2,
    said: expect.stringMatching(/^make up is running here already \(process \d+\)/m),
  })
  await expect(isReady()).resolves.toBe(true)
  expect(await make('down').ended).toMatchObject({ code: 0 })
}, 180_000)

test('nothing runs after a make demo whose terminal was closed', async () => {
  const demo = make('demo')
  const running = (): string[] => readdirSync(join(home, 'demo', 'run'))
  await eventually(() => expect(running()).toContain('delivery-worker-1.pid'), { timeoutMs: 60_000 })
  demo.closeTerminal()
  await eventually(() => expect(running()).toEqual([]), { timeoutMs: 60_000 })
}, 180_000)

test.each(['refuses its settings', 'is interrupted'])(
  'nothing runs after a make up that %s',
  async (how) => {
    const up = make('up', how === 'is interrupted' ? {} : { BREAKER_FAILURES: 'many' })
    if (how === 'is interrupted') {
      await eventually(() => expect(readdirSync(join(home, 'run'))).toContain('redis.pid'), { timeoutMs: 60_000 })
      up.interrupt()
    }
    // A signal ends make itself as well.
    expect((await up.ended).code).toBe(how === 'is interrupted' ? null : 2)
    expect(readdirSync(join(home, 'run'))).toEqual([])
    const files = readdirSync(join(home, 'data')).filter((name) => name.endsWith('-ports.json'))
    const ports = files.flatMap((name) =>
      Object.values(JSON.parse(readFileSync(join(home, 'data', name), 'utf8')) as Record<string, number>),
    )
    expect(await Promise.all(ports.map((port) => isTaken(port)))).not.toContain(true)
  },
  120_000,
)
