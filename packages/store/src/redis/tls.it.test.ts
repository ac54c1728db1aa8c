import {
  type CertificateAuthority,
  canStartRedis,
  eventually,
  makeCertificateAuthority,
  redisServers,
  startTlsProxy,
  testRedis,
} from '@switchhook/testkit'
import { execute, openRedis, type Redis } from './redis.ts'

let trusted: CertificateAuthority
let other: CertificateAuthority
const errors: string[] = []
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (message: string, fields?: Readonly<Record<string, unknown>>) =>
    void errors.push(`${message}: ${String(fields?.['error'])}`),
}
const ping = (redis: Redis) => redis[execute]((commands) => commands.ping())

beforeAll(async () => {
  ;[trusted, other] = await Promise.all([makeCertificateAuthority(), makeCertificateAuthority()])
})
beforeEach(() => void errors.splice(0))
afterAll(() => {
  trusted.close()
  other.close()
})

const wrong: [string, () => Promise<Parameters<typeof startTlsProxy>[1]>, RegExp][] = [
  ['of another authority', () => other.sign('DNS:localhost'), /unable to verify|self.signed|unable to get/],
  ['for another host', () => trusted.sign('DNS:elsewhere'), /does not match certificate's altnames/],
]

test.each(wrong)('a certificate %s is refused, until it is replaced', async (_which, sign, reason) => {
  const server = await testRedis()
  const proxy = await startTlsProxy(server.redisUrl, await sign())
  const { pathname } = new URL(server.redisUrl)
  const opening = openRedis({ url: `rediss://localhost:${proxy.port}${pathname}`, ca: trusted.ca, log, name: 'test' })
  await eventually(() => expect(errors).toHaveLength(1))
  expect(errors[0]).toMatch(/^Redis's certificate is not accepted; check REDIS_CA_FILE/)
  expect(errors[0]).toMatch(reason)
  proxy.use(await trusted.sign('DNS:localhost'))
  const redis = await opening
  expect(await ping(redis)).toBe('PONG')
  await redis.close()
  await proxy.close()
  await server.close()
})

const whenInstalled = canStartRedis() ? test : test.skip

async function startWithPassword(servers: ReturnType<typeof redisServers>) {
  const { keyFile, certificateFile } = await trusted.sign('IP:127.0.0.1')
  return servers.startTls(
    '--tls-cert-file',
    certificateFile,
    '--tls-key-file',
    keyFile,
    '--tls-ca-cert-file',
    trusted.caFile,
    '--tls-auth-clients',
    'no',
    '--requirepass',
    'p@ss/word',
  )
}

const LOGIN = `:${encodeURIComponent('p@ss/word')}`

whenInstalled('a Redis that serves TLS itself, with a password, is used', async () => {
  const servers = redisServers()
  const { port } = await startWithPassword(servers)
  const url = `rediss://${LOGIN}@127.0.0.1:${port}`
  const redis = await openRedis({ url, ca: trusted.ca, log, name: 'test' })
  expect(await ping(redis)).toBe('PONG')
  await redis.close()
  await servers.close()
})

whenInstalled('sentinels are asked over TLS, too, and their certificates are checked', async () => {
  const servers = redisServers()
  const sentinel = await servers.startSentinel(await startWithPassword(servers), 'main')
  const proxy = await startTlsProxy(`redis://127.0.0.1:${sentinel.port}`, await other.sign('DNS:localhost'))
  const url = `rediss+sentinel://${LOGIN}@localhost:${proxy.port}/main`
  const warnings: string[] = []
  const warn: typeof log.error = (_message, fields) => void warnings.push(String(fields?.['error']))
  const opening = openRedis({ url, ca: trusted.ca, log: { ...log, warn }, name: 'test' })
  await eventually(() => expect(warnings.join()).toMatch('All sentinels are unreachable'))
  proxy.use(await trusted.sign('DNS:localhost'))
  const redis = await opening
  expect(await ping(redis)).toBe('PONG')
  await redis.close()
  await proxy.close()
  await servers.close()
})
