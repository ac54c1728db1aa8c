import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
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
const PORTS: Readonly<Record<string, number>> = { 'amqp:': 5672, 'amqps:': 5671, 'redis:': 6379, 'rediss:': 6379 }

/** A list of URLs names the nodes of a cluster. */
const given = Object.entries({ AMQP_URL, REDIS_URL }).flatMap(([name, urls]) =>
  urls ? urls.split(/,(?=\w+:)/).map((text) => [name, text] as const) : [],
)
if (given.length > 0)
  test.each(given.map(([name, text]) => [name, URL.parse(text)] as const))(
    'the server that %s names accepts a connection',
    async (_, url) => {
      if (url === null) throw new Error('it is no URL')
      const socket = connect({ host: url.hostname, port: Number(url.port) || (PORTS[url.protocol] ?? 0) })
      await once(socket, 'connect')
      socket.destroy()
    },
  )

test('RabbitMQ and Redis are installed, and Redis starts', async () => {
  // With Docker, their containers are started by the tests.
  if ((AMQP_URL && REDIS_URL) || (await missingDocker()) === undefined) return
  await installServers([...(AMQP_URL ? [] : (['rabbitmq'] as const)), 'redis'], say)
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
  ['curl', ['--version']],
  ['git', ['--version']],
  ['make', ['--version']],
  ['npm', ['--version']],
  ['script', ['--version']],
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
