import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repository, temporaryFolder } from '@switchhook/test-servers'
import type { StackFile } from './stack-file.ts'

const run = promisify(execFile)

// Runs the built program in its own process, as `make up` and `make down` do.
const main = join(repository, 'tools', 'local', 'dist', 'main.js')

let home: string

beforeAll(() => {
  home = temporaryFolder('stack-')
})

afterAll(async () => {
  await local('down')
  rmSync(home, { recursive: true })
})

async function local(command: 'up' | 'down'): Promise<string> {
  const env = {
    ...process.env,
    SWITCHHOOK_HOME: home,
    API_PORT: '0',
    DEV_IDP_PORT: '0',
    REPLICAS_API: '2',
    REPLICAS_WORKER: '1',
  }
  return (await run(process.execPath, [main, command], { env })).stdout
}

const stackFile = (): StackFile => JSON.parse(readFileSync(join(home, 'stack.json'), 'utf8')) as StackFile

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
