import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import {
  BackingUnavailable,
  chromiumBinary,
  installServers,
  missingDocker,
  prometheusBinary,
  type Say,
} from '@switchhook/test-servers'
import { makeCertificateAuthority, redisServers, testPostgres } from '@switchhook/testkit'

/**
 * Tries once each program that tests start, before hundreds of tests fail for want of it. RabbitMQ is started by the first
 * tests that need it, which takes too long to do it twice.
 */
const run = promisify(execFile)
const say: Say = (line) => void process.stderr.write(`${line}\n`)
const { AMQP_URL, REDIS_URL } = process.env
const areGiven = Boolean(AMQP_URL && REDIS_URL)

test('RabbitMQ and Redis are installed, and Redis starts', async () => {
  // With Docker, their containers are started by the tests.
  if (areGiven || (await missingDocker()) === undefined) return
  await installServers(['rabbitmq', 'redis'], say)
  const servers = redisServers()
  await servers.start()
  await servers.close()
})

test('PostgreSQL starts', async () => {
  const server = await testPostgres()
  await server.close()
})

test.each([
  ['bash', ['-c', 'true']],
  ['git', ['-C', import.meta.dirname, 'rev-parse', '--git-dir']],
  ['npm', ['--version']],
  ['tar', ['--version']],
])('%s runs', async (program, args) => {
  await run(program, args)
})

test('openssl makes certificates', async () => {
  const authority = await makeCertificateAuthority()
  await authority.sign('DNS:localhost')
  authority.close()
})

/** The tests that need these are skipped where they cannot be installed. */
test.each([
  ['Chromium', chromiumBinary, ['--no-sandbox', '--dump-dom', 'about:blank']],
  ['Prometheus', prometheusBinary, ['--version']],
] as const)('%s starts, if it can be installed', async (_name, find, args) => {
  try {
    await run(await find(say), args)
  } catch (error) {
    if (!(error instanceof BackingUnavailable)) throw error
  }
})
