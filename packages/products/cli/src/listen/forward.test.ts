import dns from 'node:dns'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answered, type ForwardOutcome, failed, forward, outcomeText, untilListening } from './forward.ts'

let server: Server
let hosts: (string | undefined)[]
let port: number

const { lookup } = dns
type Lookup = (name: string, options: object, done: (error: Error | null, address?: unknown) => void) => void

/** As on many systems, the resolver knows no other name of this machine than localhost. */
const lookupWithout: Lookup = (name, options, done) =>
  /\.localhost|localhost\./.test(name)
    ? done(Object.assign(new Error(`no such name: ${name}`), { code: 'ENOTFOUND' }))
    : (lookup as Lookup)(name, options, done)

beforeAll(() => void Object.assign(dns, { lookup: lookupWithout }))
afterAll(() => void Object.assign(dns, { lookup }))

beforeEach(async () => {
  hosts = []
  server = createServer((request, response) => {
    hosts.push(request.headers.host)
    response.writeHead(204).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const delivery = { headers: { 'content-type': 'application/json' }, body: '{}' } as never

test.each(['app.localhost', 'deep.app.localhost', 'app.localhost.', 'localhost.', 'localhost', '127.0.0.1'])(
  '%s is this machine, whatever the resolver of the system knows, and the application sees that name',
  async (name) => {
    const target = new URL(`http://${name}:${port}/hook`)
    // First, because the other one waits without end for a name that is not found.
    await expect(forward(target, delivery)).resolves.toMatchObject({ status: 204 })
    await untilListening(target)
    expect(hosts).toEqual([`${name}:${port}`])
  },
)

test.each<[string, ForwardOutcome, ForwardOutcome, string]>([
  ['a success', answered(204, 12, ''), { status: 204, durationMs: 12 }, '204'],
  ['a success, whose answer is not sent', answered(200, 1, 'ok'), { status: 200, durationMs: 1 }, '200'],
  [
    'a defect, with its answer',
    answered(500, 1, `TypeError\n${'x'.repeat(200)}`),
    { status: 500, durationMs: 1, answer: `TypeError\n${'x'.repeat(200)}` },
    `500 (TypeError ${'x'.repeat(90)})`,
  ],
  ['a redirect', answered(302, 1, ''), { status: 302, durationMs: 1 }, '302'],
  ['nothing listens', failed('ECONNREFUSED', 12), { release: true }, 'refused'],
  ['no answer in time', failed('TimeoutError', 12), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['no connection in time', failed('UND_ERR_CONNECT_TIMEOUT', 12), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['no packet', failed('ETIMEDOUT', 12), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['an unknown host', failed('ENOTFOUND', 12), { error: 'dns', durationMs: 12 }, 'dns'],
  ['an own certificate', failed('DEPTH_ZERO_SELF_SIGNED_CERT', 12), { error: 'tls', durationMs: 12 }, 'tls'],
  ['no TLS', failed('ERR_SSL_WRONG_VERSION_NUMBER', 12), { error: 'tls', durationMs: 12 }, 'tls'],
  ['no HTTP', failed('HPE_INVALID_CONSTANT', 12), { error: 'malformed', durationMs: 12 }, 'malformed'],
  ['a crash', failed('ECONNRESET', 12), { error: 'reset', durationMs: 12 }, 'reset'],
  ['a closed socket', failed('UND_ERR_SOCKET', 12), { error: 'reset', durationMs: 12 }, 'reset'],
  ['no route', failed('EHOSTUNREACH', 12), { error: 'network', durationMs: 12 }, 'network'],
  ['no code', failed('', 12), { error: 'network', durationMs: 12 }, 'network'],
])('%s', (_name, outcome, expected, text) => {
  expect(outcome).toEqual(expected)
  expect(outcomeText(outcome)).toBe(text)
})
