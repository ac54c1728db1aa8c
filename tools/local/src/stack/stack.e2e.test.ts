import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository, temporaryFolder } from '@switchhook/test-servers'
import type { StackFile } from './stack-file.ts'

const run = promisify(execFile)

// Runs the built program in its own process, as `make up` and `make down` do.
const main = join(repository, 'tools', 'local', 'dist', 'main.js')

/** On the servers of the running stack; each has a part that only this test uses. */
const VHOST = 'stack'
const DATABASE = 1

let home: string
let servers: { readonly AMQP_URL: string; readonly REDIS_URL: string; readonly MANAGEMENT_URL: string }

beforeAll(async () => {
  home = temporaryFolder('stack-')
  const { urls } = stackFile(process.env['SWITCHHOOK_HOME'])
  servers = {
    AMQP_URL: `${urls.amqp}/${VHOST}`,
    REDIS_URL: `${urls.redis}/${DATABASE}`,
    MANAGEMENT_URL: String(urls.rabbitmqManagement),
  }
  await manage('PUT', `vhosts/${VHOST}`)
  await manage('PUT', `permissions/${VHOST}/${new URL(urls.amqp).username}`, {
    configure: '.*',
    write: '.*',
    read: '.*',
  })
})

afterAll(async () => {
  await local('down')
  await manage('DELETE', `vhosts/${VHOST}`)
  rmSync(home, { recursive: true })
})

async function manage(method: 'PUT' | 'DELETE', path: string, body = {}): Promise<void> {
  const { origin, username, password } = new URL(servers.MANAGEMENT_URL)
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const { ok } = await fetch(`${origin}/api/${path}`, { method, headers, body: JSON.stringify(body) })
  expect(ok).toBe(true)
}

async function local(command: 'up' | 'down'): Promise<string> {
  const env = {
    ...process.env,
    ...servers,
    SWITCHHOOK_HOME: home,
    API_PORT: '0',
    DEV_IDP_PORT: '0',
    REPLICAS_API: '2',
    REPLICAS_WORKER: '1',
  }
  return (await run(process.execPath, [main, command], { env })).stdout
}

const stackFile = (folder = home): StackFile =>
  JSON.parse(readFileSync(join(folder, 'stack.json'), 'utf8')) as StackFile

const pids = (): Record<string, number> =>
  Object.fromEntries(Object.entries(stackFile().processes).map(([name, { pid }]) => [name, pid]))

async function isReady(stack: StackFile): Promise<boolean> {
  const answers = await Promise.all(
    Object.values(stack.healthPorts).map((port) => fetch(`http://127.0.0.1:${port}/readyz`)),
  )
  return answers.every(({ ok }) => ok)
}

test('up starts what is not running, down leaves nothing running', async () => {
  const said = await local('up')
  const first = stackFile()
  expect(Object.keys(first.processes)).toEqual(
    expect.arrayContaining(['api-1', 'api-2', 'fanout-1', 'delivery-worker-1', 'dev-idp']),
  )
  expect(said).toContain(first.urls.api)
  await expect(isReady(first)).resolves.toBe(true)
  for (const [name, pid] of Object.entries(pids())) {
    expect(Number(readFileSync(join(home, 'run', `${name}.pid`), 'utf8'))).toBe(pid)
  }

  const before = pids()
  await local('up')
  expect(pids()).toEqual(before)

  process.kill(before['api-2'] ?? 0, 'SIGKILL')
  process.kill(before['dev-idp'] ?? 0, 'SIGKILL')
  await local('up')
  const { 'api-2': api, 'dev-idp': idp, ...others } = pids()
  expect([api, idp]).not.toContain(before['api-2'])
  expect(before).toMatchObject(others)
  expect(stackFile().urls).toEqual(first.urls)
  await expect(isReady(stackFile())).resolves.toBe(true)

  // A pid file from before a reboot may name another process.
  writeFileSync(join(home, 'run', 'fanout-9.pid'), '999999999\n')
  await local('down')
  expect(readdirSync(join(home, 'run'))).toEqual([])
  expect(existsSync(join(home, 'stack.json'))).toBe(false)
  await expect(isReady(first)).rejects.toThrow('fetch failed')
}, 120_000)
