import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import type { Outcome } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { answerWithin } from '@switchhook/runtime'
import {
  aDelivery,
  type CertificateAuthority,
  eventually,
  makeCertificateAuthority,
  startReceiver,
} from '@switchhook/testkit'
import { egressProxyField } from '../egress-proxy.ts'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'
import { createTunnels } from './tunnel.ts'

/** Long, because the first POST of a process loads and compiles the HTTP client. */
const TIMEOUT_MS = 5_000
const SHORT_MS = 500
const PASSWORD = 'p@ss'
const ok: Outcome = { kind: 'delivered', status: 204 }
const failed = (reason: string): Outcome => expect.objectContaining({ kind: 'unreachable', reason }) as Outcome

/** Addresses of the documentation networks stand for public ones: nothing can be reached there without the proxy. */
const [FIRST, SECOND, SIXTH] = ['203.0.113.1', '203.0.113.2', '2001:db8::6'] as const
const guard = createAddressGuard(['203.0.113.0/24', '2001:db8::/32'])
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'client.example': [FIRST],
  'two.example': [FIRST, SECOND],
  'six.example': [SIXTH],
  'inside.example': ['10.0.0.1'],
}
const lookup = async (hostname: string): Promise<readonly string[]> => NAMES[hostname] ?? []

let authority: CertificateAuthority
let client: TestPostClient
let warnings: unknown[][]
let closing: (() => unknown)[]

const before = getCACertificates('default')

beforeAll(async () => {
  authority = await makeCertificateAuthority()
  setDefaultCACertificates([...before, authority.ca])
})
afterAll(() => {
  setDefaultCACertificates(before)
  authority.close()
})

beforeEach(() => {
  closing = []
  warnings = []
})
afterEach(async () => {
  for (const close of closing.toReversed()) await close()
})

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

type Refuse = (authority: string, socket: Socket) => void

/** A CONNECT proxy that takes every address for a port of this machine. `refuse` ends tunnels to some addresses. */
async function startProxy({ refuse, tls }: { refuse?: Record<string, Refuse>; tls?: ServerOptions } = {}) {
  const asked: { authority: string; headers: IncomingMessage['headers'] }[] = []
  const requests: string[] = []
  const onRequest = ({ url }: IncomingMessage): void => void requests.push(url ?? '')
  const server = tls === undefined ? createHttpServer(onRequest) : createTlsServer(tls, onRequest)
  const open = new Set<Socket>()
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket) => {
    asked.push({ authority: url, headers })
    open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)))
    const refusal = refuse?.[url.replace(/:\d+$/, '')]
    // Node.js leaves the socket of a CONNECT half open, and one that is not read does not notice the end.
    if (refusal !== undefined) return refusal(url, socket.on('end', () => socket.destroy()).resume())
    const upstream = connect({ host: '127.0.0.1', port: Number(/\d+$/.exec(url)?.[0]) })
    upstream.once('connect', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    upstream
      .on('error', () => socket.destroy())
      .pipe(socket)
      .pipe(upstream)
    socket.on('close', () => upstream.destroy())
  })
  const port = await listen(server)
  closing.push(() => open.forEach((socket) => socket.destroy()))
  return { asked, requests, port, open, url: `${tls === undefined ? 'http' : 'https'}://user:p%40ss@localhost:${port}` }
}

function useProxy(url: string, timeoutMs = TIMEOUT_MS): void {
  const proxy = egressProxyField.parse(url)
  if (proxy === undefined) throw new Error('no proxy')
  const log = { warn: (...line: unknown[]) => void warnings.push(line) }
  const way = createTunnels({ proxy, timeoutMs, log })
  client = aPostClient({ timeoutMs, maxSockets: 1, guard, lookup, way })
  closing.push(() => client.close())
}

const post = (url: string): Promise<Outcome> => client.post(aDelivery({ url }), 1)

async function startTlsEndpoint(name: string) {
  const { key, certificate } = await authority.sign(`DNS:${name}`)
  const serverNames: unknown[] = []
  const server = createTlsServer({ key, cert: certificate }, (request, response) => {
    serverNames.push((request.socket as TLSSocket).servername)
    response.writeHead(204).end()
  })
  return { port: await listen(server), serverNames }
}

const answering =
  (head: string): Refuse =>
  (_authority, socket) =>
    void socket.write(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`)

test('an https endpoint is reached through a tunnel to its address, with its own server name and certificate', async () => {
  const proxy = await startProxy()
  useProxy(proxy.url)
  const { port, serverNames } = await startTlsEndpoint('client.example')
  for (let n = 0; n < 3; n++) await expect(post(`https://client.example:${port}/hook`)).resolves.toEqual(ok)
  expect(serverNames).toEqual(['client.example', 'client.example', 'client.example'])
  // The connection is kept, and the proxy gets no name of the endpoint in any header.
  expect(proxy.asked.map(({ authority: asked }) => asked)).toEqual([`${FIRST}:${port}`])
  expect(proxy.asked[0]?.headers).toEqual({
    host: `${FIRST}:${port}`,
    connection: 'keep-alive',
    'proxy-authorization': `Basic ${Buffer.from(`user:${PASSWORD}`).toString('base64')}`,
  })
})

test('a certificate for another name is refused as without a proxy', async () => {
  useProxy((await startProxy()).url)
  const { port, serverNames } = await startTlsEndpoint('other.example')
  await expect(post(`https://client.example:${port}/`)).resolves.toEqual(failed('tls'))
  expect(serverNames).toEqual([])
  expect(warnings).toEqual([])
})

test('an http endpoint gets a tunnel, too; the proxy never sees a request', async () => {
  const proxy = await startProxy()
  useProxy(proxy.url)
  const receiver = await startReceiver()
  closing.push(() => receiver.close())
  for (const host of ['client.example', 'six.example', `[${SIXTH}]`, FIRST]) {
    await expect(post(`http://${host}:${receiver.port}/hook`)).resolves.toEqual(ok)
  }
  expect(proxy.asked.map(({ authority: asked }) => asked)).toEqual(
    [FIRST, `[${SIXTH}]`, `[${SIXTH}]`, FIRST].map((address) => `${address}:${receiver.port}`),
  )
  expect(proxy.requests).toEqual([])
  expect(receiver.requests('/hook').map(({ headers }) => headers.host)).toContain(`client.example:${receiver.port}`)
  expect(receiver.requests('/hook')[0]?.headers).not.toHaveProperty('proxy-authorization')
})

test('the connection to the proxy itself can use TLS', async () => {
  const { key, certificate } = await authority.sign('DNS:localhost')
  const serverNames: unknown[] = []
  const SNICallback: ServerOptions['SNICallback'] = (name, done) => {
    serverNames.push(name)
    done(null)
  }
  const proxy = await startProxy({ tls: { key, cert: certificate, SNICallback } })
  useProxy(proxy.url)
  const { port } = await startTlsEndpoint('client.example')
  await expect(post(`https://client.example:${port}/`)).resolves.toEqual(ok)
  expect(proxy.asked).toHaveLength(1)
  expect(serverNames).toEqual(['localhost'])
})

test.each(['inside.example', '10.0.0.1', '[::ffff:10.0.0.1]', 'localhost'])(
  'the proxy is never asked for the blocked address of %s',
  async (host) => {
    const proxy = await startProxy()
    useProxy(proxy.url)
    await expect(post(`http://${host}/`)).resolves.toEqual(failed('blocked'))
    expect(proxy.asked).toEqual([])
  },
)

describe('an attempt fails', () => {
  test.each<[string, Refuse, string]>([
    ['407', answering('407 Proxy Authentication Required'), 'proxy'],
    ['403', answering('403 Forbidden'), 'proxy'],
    ['502, because the endpoint may be away', answering('502 Bad Gateway'), 'network'],
    ['504, because the endpoint may be away', answering('504 Gateway Timeout'), 'timeout'],
    ['no HTTP', (_authority, socket) => void socket.write('hello\r\n\r\n'), 'proxy'],
    ['nothing and closes', (_authority, socket) => void socket.end(), 'proxy'],
    ['nothing', () => {}, 'timeout'],
  ])('if the proxy answers %s', async (_answer, refusal, reason) => {
    const proxy = await startProxy({ refuse: { [FIRST]: refusal } })
    useProxy(proxy.url, SHORT_MS)
    for (const url of ['http://client.example/', 'https://client.example/'])
      await expect(answerWithin(5 * SHORT_MS, post(url), 'late')).resolves.toEqual(failed(reason))
    await eventually(() => expect(warnings).toHaveLength(1))
    expect(warnings[0]).toMatchObject([
      'no connection through the egress proxy',
      { proxy: `localhost:${proxy.port}`, address: `${FIRST}:80`, problem: expect.any(String) as string },
    ])
    expect(JSON.stringify(warnings)).not.toContain(Buffer.from(`user:${PASSWORD}`).toString('base64'))
    await eventually(() => expect(proxy.open.size).toBe(0))
  })

  test('if nothing listens at the address of the proxy', async () => {
    const { port } = await startProxy()
    for (const close of closing.splice(0).toReversed()) await close()
    useProxy(`http://127.0.0.1:${port}`)
    await expect(post('http://client.example/')).resolves.toEqual(failed('proxy'))
    expect(warnings).toMatchObject([[expect.any(String), { problem: 'it cannot be reached' }]])
  })

  test('if the proxy accepts no connection, in half of the time', async () => {
    // A TLS handshake with a server that says nothing does not end.
    useProxy(`https://127.0.0.1:${await silent()}`, SHORT_MS)
    await expect(post('http://client.example/')).resolves.toEqual(failed('proxy'))
    expect(warnings).toMatchObject([[expect.any(String), { problem: 'it accepted no connection in time' }]])
  })
})

test('an endpoint that speaks before the request gets one connection for each attempt', async () => {
  const early: Refuse = (_authority, socket) =>
    void socket.write('HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n')
  const proxy = await startProxy({ refuse: { [FIRST]: early } })
  useProxy(proxy.url, SHORT_MS)
  for (const url of ['http://client.example/', 'https://client.example/']) {
    await expect(post(url)).resolves.toEqual(failed('malformed'))
  }
  expect(proxy.asked).toHaveLength(2)
  expect(warnings).toEqual([])
  await eventually(() => expect(proxy.open.size).toBe(0))
})

/** A tunnel that opens after the next address is tried, to an endpoint that answers 204. */
const slowly: Refuse = (_authority, socket) => {
  setTimeout(() => {
    socket.once('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
  }, 600)
}

test('if the proxy cannot reach the first address, it is asked for the second', async () => {
  const proxy = await startProxy({ refuse: { [FIRST]: answering('503 Service Unavailable') } })
  useProxy(proxy.url)
  const receiver = await startReceiver()
  closing.push(() => receiver.close())
  await expect(post(`http://two.example:${receiver.port}/`)).resolves.toEqual(ok)
  expect(proxy.asked.map(({ authority: asked }) => asked)).toEqual([FIRST, SECOND].map((a) => `${a}:${receiver.port}`))
})

test('while the proxy has no connection to the first address, it is asked for the second', async () => {
  const proxy = await startProxy({ refuse: { [FIRST]: () => {} } })
  useProxy(proxy.url)
  const receiver = await startReceiver()
  closing.push(() => receiver.close())
  await expect(post(`http://two.example:${receiver.port}/`)).resolves.toEqual(ok)
  // The tunnel to the first address was given up.
  await eventually(() => expect(proxy.open.size).toBe(1))
  expect(warnings).toEqual([])
})

test.each(['502 Bad Gateway', '403 Forbidden'])(
  'a slow tunnel to the first address is used, although the proxy answers %s for the second one',
  async (refusal) => {
    const proxy = await startProxy({ refuse: { [FIRST]: slowly, [SECOND]: answering(refusal) } })
    useProxy(proxy.url)
    await expect(post('http://two.example/')).resolves.toEqual(ok)
  },
)

test('an attempt that no tunnel reaches says how each address failed', async () => {
  const proxy = await startProxy({ refuse: { [FIRST]: answering('503 Service Unavailable'), [SECOND]: () => {} } })
  useProxy(proxy.url, SHORT_MS)
  const detail = `${SECOND}:80: no answer through the proxy, ${FIRST}:80: the proxy answered 503`
  await expect(post('http://two.example/')).resolves.toEqual({ kind: 'unreachable', reason: 'timeout', detail })
  await eventually(() => expect(proxy.open.size).toBe(0))
})

/** The port of a server that accepts connections and says nothing. */
async function silent(): Promise<number> {
  const server = createTcpServer((socket) => {
    closing.push(() => socket.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => server.close())
  return (server.address() as AddressInfo).port
}
