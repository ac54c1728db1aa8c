import { Socket } from 'node:net'
import { Unavailable } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { aDelivery } from '@switchhook/testkit'
import { egressProxyField } from '../egress-proxy.ts'
import { aPostClient } from '../testing/post-client.ts'
import { createTunnels } from './tunnel.ts'

const timeoutMs = 5_000
const SHORTAGE = 'our shortage'
const FOURTH = '203.0.113.1'
const SIXTH = '2001:db8::1'
const guard = createAddressGuard(['203.0.113.0/24', '2001:db8::/32'])

type Failures = Readonly<Record<string, string>>

afterEach(() => jest.restoreAllMocks())

/** Fails each connection as the kernel would, with the code for its address. */
function failConnections(codes: Failures): void {
  const failed = (address: string) => Object.assign(new Error(), { code: codes[address], syscall: 'connect', address })
  jest.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...given: unknown[]) {
    const [{ host = '' }] = (Array.isArray(given[0]) ? given[0] : given) as [{ host?: string }]
    const all = host in codes ? [failed(host)] : Object.keys(codes).map(failed)
    // Node.js reports several addresses of a name together, with the code of the first.
    const [first] = all
    const error = all.length === 1 ? first : Object.assign(new AggregateError(all), { code: first?.code })
    Object.assign(this, { connecting: true })
    setImmediate(() => this.destroy(error))
    return this
  })
}

async function resultOf(codes: Failures, addresses: readonly string[], proxyUrl?: string): Promise<string> {
  failConnections(codes)
  const proxy = egressProxyField.parse(proxyUrl ?? '')
  const way = proxy && createTunnels({ proxy, timeoutMs, log: { warn: () => {} } })
  const client = aPostClient({ timeoutMs, maxSockets: 1, guard, lookup: async () => addresses, way })
  try {
    const outcome = await client.post(aDelivery({ url: 'http://client.example/' }), 1)
    return outcome.kind === 'unreachable' ? outcome.reason : outcome.kind
  } catch (error) {
    return error instanceof Unavailable && error.dependency === 'process' ? SHORTAGE : String(error)
  } finally {
    await client.close()
  }
}

const NONE = 'EADDRNOTAVAIL'

test.each<[string, Failures, string]>([
  ['an IPv4 address', { [FOURTH]: NONE }, 'network'],
  ['an IPv6 address', { [SIXTH]: NONE }, 'network'],
  ['both', { [FOURTH]: NONE, [SIXTH]: NONE }, 'network'],
  ['an IPv6 address, beside an IPv4 address that refuses', { [FOURTH]: 'ECONNREFUSED', [SIXTH]: NONE }, 'refused'],
])('no local address or port for %s of an endpoint concerns that endpoint alone', async (_to, codes, expected) => {
  expect(await resultOf(codes, Object.keys(codes))).toBe(expected)
})

test.each<[string, string, Failures, string]>([
  ['by its IPv4 address', 'http://192.0.2.1:3128', { '192.0.2.1': NONE }, SHORTAGE],
  ['by its IPv6 address', 'http://[2001:db8::2]:3128', { '2001:db8::2': NONE }, SHORTAGE],
  ['over TLS', 'https://192.0.2.1:3128', { '192.0.2.1': NONE }, SHORTAGE],
  [
    'by a name, without IPv6',
    'http://proxy.example:3128',
    { '2001:db8::2': 'ENETUNREACH', '192.0.2.1': NONE },
    SHORTAGE,
  ],
  [
    'that refuses, without IPv6',
    'http://proxy.example:3128',
    { '2001:db8::2': NONE, '192.0.2.1': 'ECONNREFUSED' },
    'proxy',
  ],
])('no local address or port for the proxy %s', async (_how, proxyUrl, codes, expected) => {
  expect(await resultOf(codes, [FOURTH], proxyUrl)).toBe(expected)
})
