import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, redisBinary, waitUntil } from '@switchhook/test-servers'
import { managementEnvironment, openManagement } from '@switchhook/testkit'
import { connect, credentials } from 'amqplib'
import { mountConfigMap } from './mounted-scripts.ts'

/** Passwords that have been pasted into Secrets, with characters that files, shells or URLs give a meaning. */
const WORK = [
  'a"secret',
  "a'secret",
  String.raw`a\secret\x41\n`,
  '$HOME`id`secret',
  'a#/?%@: secret',
  'sécret',
  // Bytes of white space in other letters.
  'àsecretठ',
  '}{{secret',
]

let folder: string
let started: ChildProcess | undefined
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'switchhook-passwords-'))))
afterEach(async () => {
  if (started?.exitCode === null && started.signalCode === null) {
    started.kill('SIGKILL')
    await once(started, 'exit')
  }
  rmSync(folder, { recursive: true })
})

/** Starts Redis by the script and the configuration of the chart, on another port and in another folder. */
async function startRedis(password: string) {
  const port = await freePort()
  const mounted = mountConfigMap('redis-config', 'production')
  const script = readFileSync(join(mounted, 'start.sh'), 'utf8')
  const config = readFileSync(join(mounted, 'redis.conf'), 'utf8')
  rmSync(mounted, { recursive: true })
  mkdirSync(join(folder, 'data'))
  writeFileSync(join(folder, 'redis.conf'), `${config}\nport ${port}\nbind 127.0.0.1\n`)
  const here = script.replaceAll('/etc/redis', folder).replace('dir /data', `dir ${folder}/data`)
  writeFileSync(join(folder, 'start.sh'), here.replace('redis-server', redisBinary() ?? 'redis-server'))
  const child = spawn('sh', [join(folder, 'start.sh')], {
    env: { PATH: process.env['PATH'], REDISCLI_AUTH: password },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started = child
  let said = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close')
  await Promise.race([ended, waitUntil(() => answers(port), 10_000)])
  return { port, said: () => said, child, ended }
}

// Redis answers a client without the password, too.
const answers = async (port: number): Promise<boolean> => (await cli(port, '')).includes('NOAUTH')

async function cli(port: number, password: string): Promise<string> {
  const env = { PATH: process.env['PATH'], ...(password !== '' && { REDISCLI_AUTH: password }) }
  const { stdout, stderr } = await promisify(execFile)('redis-cli', ['-p', String(port), 'ping'], { env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return stdout + stderr
}

const ifRedis = redisBinary() === undefined ? describe.skip : describe

ifRedis("the password of the chart's Redis", () => {
  test.each(WORK)('%s works', async (password) => {
    const { port, said } = await startRedis(password)
    expect(await cli(port, password)).toBe('PONG\n')
    expect(await cli(port, `${password}x`)).toContain('WRONGPASS')
    expect(said()).not.toContain('secret')
  })

  test.each([
    ['secret\n', 'contains a line end'],
    ['secret\nmaxmemory 1', 'contains a line end'],
    ['secret\r\n', 'contains a line end'],
    [' secret', 'begins or ends with white space or a byte order mark'],
    ['\uFEFFsecret', 'begins or ends with white space or a byte order mark'],
    ['secret\uFEFF', 'begins or ends with white space or a byte order mark'],
    ['secret\u00A0', 'begins or ends with white space or a byte order mark'],
    ['\u3000secret', 'begins or ends with white space or a byte order mark'],
    ['', 'is empty'],
  ])('%j ends the start with its reason, and is not printed', async (password, reason) => {
    const { ended, said } = await startRedis(password)
    expect(await ended).toEqual([1, null])
    expect(said()).toContain(`the key password of the Secret redis ${reason}`)
    expect(said()).toContain('delete this pod')
    expect(said()).not.toMatch(/: *secret|maxmemory/)
  })
})

describe('the users of RabbitMQ', () => {
  const address = process.env['TEST_MANAGEMENT_URL'] ?? ''
  const prefix = `pasted-${process.pid}-`
  const { call } = openManagement(address, '/')

  async function createUsers(administrator: string, password: string) {
    const scripts = mountConfigMap('rabbitmq-users', 'production')
    const users = { api: { tags: '', configure: '.*', write: '.*', read: '.*' } }
    writeFileSync(join(folder, 'users.json'), JSON.stringify(users))
    writeFileSync(join(folder, 'api'), password)
    await call('PUT', `users/${prefix}admin`, { password: administrator, tags: 'administrator' })
    const env = {
      PATH: process.env['PATH'],
      ...managementEnvironment(address),
      MANAGEMENT_USERNAME: `${prefix}admin`,
      MANAGEMENT_PASSWORD: administrator,
      USERS: join(folder, 'users.json'),
      PASSWORDS: folder,
      PREFIX: prefix,
    }
    return promisify(execFile)(process.execPath, [join(scripts, 'create-users.mjs')], { env })
      .catch((error: { stdout: string; stderr: string }) => error)
      .finally(() => rmSync(scripts, { recursive: true }))
  }
  afterEach(() => Promise.allSettled(['admin', 'api'].map((name) => call('DELETE', `users/${prefix}${name}`))))

  test.each([...WORK, 'secret\n', '\uFEFFsecret\r\n'])(
    'are created with the password %j, as the services read it',
    async (password) => {
      const { stdout, stderr } = await createUsers('a/b#c?d%e"f@g:secret', password)
      expect([stdout, stderr]).toEqual([`${prefix}api\n`, ''])
      const login = credentials.plain(`${prefix}api`, password.trim())
      const model = await connect(process.env['TEST_AMQP_URL'] ?? '', { credentials: login })
      await model.close()
    },
  )

  test('are not created with a password of several lines, which the services refuse', async () => {
    const { stdout, stderr } = await createUsers('secret', 'one secret\ntwo')
    expect([stdout, stderr]).toEqual(['', `the password must be one line without control characters: ${prefix}api\n`])
  })
})
