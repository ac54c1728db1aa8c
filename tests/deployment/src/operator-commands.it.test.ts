import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '@switchhook/chart'
import { startCommand } from '@switchhook/testkit'

const COMMANDS = [
  ['fanout', 'quarantine', ['list']],
  ['fanout', 'installation', ['show']],
  ['api', 'watch-asterisk', []],
  ['api', 'unknown-channels', ['list']],
] as const

const folder = mkdtempSync(join(tmpdir(), 'switchhook-commands-'))
const password = join(folder, 'password')
writeFileSync(password, 'secret')
afterAll(() => rmSync(folder, { recursive: true }))

/** Nothing listens at these addresses. */
const SERVERS = {
  AMQP_URL: 'amqp://127.0.0.1:1',
  REDIS_URL: 'redis://127.0.0.1:1',
  ASTERISK_URL: 'http://127.0.0.1:1',
  ASTERISK_PASSWORD_FILE: password,
}

test.each(COMMANDS)('%s: %s starts with the checks of the services', async (service, name, args) => {
  const script = join(repository, 'services', service, 'src', `${name}.ts`)
  const shell = { NODE_ENV: 'production', NODE_TLS_REJECT_UNAUTHORIZED: '0', DEBUG: '*' }
  const { ended } = startCommand(['--conditions=source', script, ...args], { env: { ...SERVERS, ...shell } })
  const { code, stdout, stderr } = await ended
  expect(code).toBe(1)
  expect(stdout + stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED is 0')
  expect(stdout + stderr).toContain('DEBUG turns on ioredis:redis')
})
