import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import type { Delivery, Outcome } from '@switchhook/contracts'
import { createAddressGuard } from '@switchhook/egress'
import { answerWithin } from '@switchhook/runtime'
import { aDelivery, eventually } from '@switchhook/testkit'
import { generate } from 'selfsigned'
import { aPostClient, type TestPostClient } from '../testing/post-client.ts'

const TIMEOUT_MS = 500
const DAY_MS = 86_400_000
const guard = createAddressGuard(['127.0.0.0/8'])
const ok: Outcome = { kind: 'delivered', status: 200 }
const failed = (reason: string): Outcome => expect.objectContaining({ kind: 'unreachable', reason }) as Outcome

/** Resolves every name to this machine. */
const lookup = async (): Promise<string[]> => ['127.0.0.1']

let client: TestPostClient
let servers: Server[]

beforeEach(() => {
  servers = []
  client = aPostClient({
    timeoutMs: TIMEOUT_MS,
    maxSockets: 10,
    guard,
    lookup,
  })
})

afterEach(async () => {
  await client.close()
  for (const server of servers) server.close()
})

const deliveryTo = (url: string): Delivery => aDelivery({ url })

const listen = async (server: Server): Promise<number> => {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** The url of a TCP server that answers every request with `respond`. */
async function urlOf(respond: (socket: Socket) => void): Promise<string> {
  const port = await listen(
    createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => respond(socket))
    }),
  )
  return `http://127.0.0.1:${port}/`
}

const post = (url: string): Promise<Outcome> => client.post(deliveryTo(url), 1)

const HEAD = 'HTTP/1.1 200 OK\r\n'
const REFUSAL = 'HTTP/1.1 503 Away\r\n'

describe('an answer', () => {
  test('whose body trickles in byte by byte counts by its status line, and is dropped after a second', async () => {
    let bytes = 0
    let closed = false
    const url = await urlOf((socket) => {
      socket.write(`${HEAD}Content-Length: 1000000\r\n\r\n`)
      const trickle = setInterval(() => socket.write('x', () => (bytes += 1)), 50)
      socket.on('close', () => {
        clearInterval(trickle)
        closed = true
      })
    })
    await expect(post(url)).resolves.toEqual(ok)
    await eventually(() => expect(closed).toBe(true))
    expect(bytes).toBeLessThan(60)
  })

  test('with an error status and a trickling body is read until the deadline at most, and its excerpt is kept', async () => {
    let closed = false
    const url = await urlOf((socket) => {
      socket.write(`${REFUSAL}Content-Length: 1000000\r\n\r\nout of `)
      const trickle = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => {
        clearInterval(trickle)
        closed = true
      })
    })
    const hasty = aPostClient({ timeoutMs: 400, maxSockets: 1, guard, lookup })
    // Without the deadline, the excerpt would take a second.
    const outcome = answerWithin(800, hasty.post(deliveryTo(url), 1), 'late')
    await expect(outcome).resolves.toEqual({ kind: 'answered', status: 503, answer: 'out of' })
    await eventually(() => expect(closed).toBe(true))
    await hasty.close()
  })

  test('with an error status and a stalled body is read for at most a second, however long the deadline', async () => {
    const patient = aPostClient({ timeoutMs: 60_000, maxSockets: 1, guard, lookup })
    const url = await urlOf((socket) => void socket.write(`${REFUSAL}Content-Length: 100\r\n\r\n`))
    const outcome = answerWithin(10_000, patient.post(deliveryTo(url), 1), 'late')
    await expect(outcome).resolves.toEqual({ kind: 'answered', status: 503 })
    await patient.close()
  })

  test('with an error status that breaks in its body counts', async () => {
    const url = await urlOf((socket) => {
      socket.write(`${REFUSAL}Content-Length: 100\r\n\r\nhalf a word`, () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      )
    })
    await expect(post(url)).resolves.toEqual({ kind: 'answered', status: 503, answer: 'half a' })
  })

  test('that breaks in its body counts', async () => {
    const url = await urlOf((socket) => {
      socket.write(`${HEAD}Content-Length: 100\r\n\r\nhalf`, () => socket.resetAndDestroy())
    })
    await expect(post(url)).resolves.toEqual(ok)
  })

  const ENDS: readonly (readonly [how: string, end: (socket: Socket) => void])[] = [
    ['closes', (socket) => void socket.end()],
    ['breaks', (socket) => void setTimeout(() => socket.resetAndDestroy(), 20)],
  ]

  describe.each(ENDS)('before the end of whose head the connection %s', (_how, end) => {
    const urlAfter = (part: string): Promise<string> => urlOf((socket) => void socket.write(part, () => end(socket)))

    test.each(['', 'HTTP/1.1 ', 'HTTP/1.1 20', 'HTTP/1.1 200', 'HTTP/1.1 103 Early Hints\r\nLink: </a'])(
      'is none after %j',
      async (part) => {
        await expect(post(await urlAfter(part))).resolves.toEqual(failed('reset'))
      },
    )

    test.each<[string, Outcome]>([
      [HEAD, { kind: 'delivered', status: 200 }],
      [`${HEAD}Content-Le`, { kind: 'delivered', status: 200 }],
      [`${HEAD}Content-Length: 0\r\n`, { kind: 'delivered', status: 200 }],
      ['HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n', { kind: 'delivered', status: 204 }],
      ['HTTP/1.1 410 Gone\r\nContent-Ty', { kind: 'answered', status: 410 }],
      [`${REFUSAL}Retry-After: 9`, { kind: 'answered', status: 503 }],
    ])('counts by the status in %j, and the attempt says so', async (part, outcome) => {
      const detail = 'the connection ended before the head of the answer did'
      await expect(post(await urlAfter(part))).resolves.toEqual({ ...outcome, detail })
    })
  })

  test('whose head does not end is a timeout, because it hangs until the deadline', async () => {
    const url = await urlOf((socket) => void socket.write(`${HEAD}Content-Le`))
    await expect(post(url)).resolves.toEqual(failed('timeout'))
  })

  test('with headers that never end is cut off long before it fills the memory', async () => {
    let bytes = 0
    const line = `X-More: ${'x'.repeat(1_000)}\r\n`
    const url = await urlOf((socket) => {
      socket.write(HEAD)
      const more = setInterval(() => socket.write(line, () => (bytes += line.length)), 1)
      socket.on('close', () => clearInterval(more))
    })
    await expect(post(url)).resolves.toMatchObject(ok)
    expect(bytes).toBeLessThan(200_000)
  })

  test.each([
    ['text beyond ASCII', 'X-Odd: caf\u00e9 \u2603'],
    ['an empty value', 'X-Odd:'],
    ['the same name many times', Array.from({ length: 50 }, () => 'Set-Cookie: a=b').join('\r\n')],
    ['names of inherited object properties', '__proto__: x\r\nconstructor: y\r\ntoString: z'],
  ])('with headers of %s is read', async (_name, headers) => {
    const url = await urlOf((socket) => void socket.end(`${HEAD}${headers}\r\nContent-Length: 0\r\n\r\n`))
    await expect(post(url)).resolves.toEqual(ok)
  })

  test('is accepted after any number of interim answers', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'
    const url = await urlOf((socket) => void socket.end(`${early.repeat(50)}${HEAD}Content-Length: 0\r\n\r\n`))
    await expect(post(url)).resolves.toEqual(ok)
  })

  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
  const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n'
  const ANSWER = 'HTTP/1.1 204 No Content\r\n\r\n'
  const answered: Outcome = { kind: 'delivered', status: 204 }

  test.each([
    ['a 100', CONTINUE],
    ['a 100 with headers', 'HTTP/1.1 100 Continue\r\nServer: old\r\nX-Empty:\r\n\r\n'],
    ['a 100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
    ['several 100s', CONTINUE.repeat(20)],
    ['a 100 and a 103', CONTINUE + EARLY],
    ['a 103 and a 100', EARLY + CONTINUE],
  ])('is accepted after %s that the worker did not ask for', async (_name, interim) => {
    let requests = 0
    const url = await urlOf((socket) => {
      requests += 1
      socket.end(interim + ANSWER)
    })
    await expect(post(url)).resolves.toEqual(answered)
    expect(requests).toBe(1)
  })

  test('is accepted after a 100, however they are split into packets', async () => {
    const bytes = CONTINUE + EARLY + CONTINUE + ANSWER
    const url = await urlOf((socket) => {
      let sent = 0
      // A packet per iteration of the event loop: timers take longer on a busy machine, up to the deadline.
      const drip = (): void => {
        if (sent < bytes.length && !socket.destroyed) socket.write(bytes[sent++] ?? '', () => setImmediate(drip))
      }
      socket.setNoDelay()
      drip()
    })
    await expect(post(url)).resolves.toEqual(answered)
  })

  test('after a 100 leaves the connection to the next attempt', async () => {
    let connections = 0
    const port = await listen(
      createServer((socket) => {
        connections += 1
        socket.on('error', () => {})
        socket.on('data', () => void socket.write(CONTINUE + ANSWER))
      }),
    )
    await eventually(async () => {
      const before = connections
      await expect(post(`http://127.0.0.1:${port}/`)).resolves.toEqual(answered)
      expect(connections).toBe(before)
    })
  })

  test('that does not follow a 100 is awaited until the deadline', async () => {
    const url = await urlOf((socket) => void socket.write(CONTINUE))
    await expect(post(url)).resolves.toEqual(failed('timeout'))
  })

  test('cut off within a 100 is a lost connection', async () => {
    const url = await urlOf((socket) => void socket.end('HTTP/1.1 100 Conti'))
    await expect(post(url)).resolves.toEqual(failed('reset'))
  })

  test('that switches protocols after a 100 is malformed', async () => {
    const url = await urlOf(
      (socket) => void socket.write(`${CONTINUE}HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: ws\r\n\r\n`),
    )
    await expect(post(url)).resolves.toEqual(failed('malformed'))
  })

  test.each([
    ['with headers that never end', `HTTP/1.1 100 Continue\r\n${'X-Pad: 1234567890\r\n'.repeat(10_000)}`],
    ['with bare line feeds', 'HTTP/1.1 100 Continue\n\nHTTP/1.1 204 No Content\n\n'],
  ])('after a 100 %s is malformed', async (_name, bytes) => {
    const url = await urlOf((socket) => void socket.write(bytes))
    await expect(post(url)).resolves.toEqual(failed('malformed'))
  })

  test('made of endless interim answers is cut off at the deadline', async () => {
    const url = await urlOf((socket) => {
      const hints = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5)
      socket.on('close', () => clearInterval(hints))
    })
    await expect(post(url)).resolves.toEqual(failed('timeout'))
  })
})

describe.each([
  ['200', HEAD, ok],
  ['503', REFUSAL, { kind: 'answered', status: 503 } as const],
])('with status %s', (_status, head, outcome) => {
  test('neither compressed bombs nor endless answers fill the memory', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const bombs = await urlOf((socket) => {
      socket.end(
        Buffer.concat([Buffer.from(`${head}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`), bomb]),
      )
    })
    const flood = Buffer.alloc(65_536, 'x')
    const endless = await urlOf((socket) => {
      socket.write(`${head}Content-Length: 100000000000\r\n\r\n`)
      const pour = (): void => {
        while (!socket.destroyed && socket.write(flood));
        if (!socket.destroyed) socket.once('drain', pour)
      }
      pour()
    })
    await Promise.all([post(bombs), post(endless)])
    const before = process.memoryUsage().rss
    for (let n = 0; n < 60; n++) {
      await expect(Promise.all([post(bombs), post(endless)])).resolves.toEqual([outcome, outcome])
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000)
  })
})

describe('TLS', () => {
  const before = getCACertificates('default')
  let ca: Awaited<ReturnType<typeof generate>>

  beforeAll(async () => {
    ca = await generate([{ name: 'commonName', value: 'Test CA' }], {
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    })
    setDefaultCACertificates([...before, ca.cert])
  })

  afterAll(() => setDefaultCACertificates(before))

  /** An https endpoint with a certificate of this name, validity and issuer. */
  async function endpoint({
    name = 'client.example',
    fromMs = -DAY_MS,
    toMs = DAY_MS,
    vouched = true,
  }): Promise<string> {
    const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
      notBeforeDate: new Date(Date.now() + fromMs),
      notAfterDate: new Date(Date.now() + toMs),
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
      ...(vouched && { ca: { key: ca.private, cert: ca.cert } }),
    })
    const server = createTlsServer({ key, cert }, (_request, response) => response.end())
    server.on('tlsClientError', () => {})
    return `https://client.example:${await listen(server)}/`
  }

  test('with a valid certificate is accepted', async () => {
    await expect(post(await endpoint({}))).resolves.toEqual(ok)
  })

  test.each([
    ['that has expired', { fromMs: -2 * DAY_MS, toMs: -DAY_MS }],
    ['that is not valid yet', { fromMs: DAY_MS, toMs: 2 * DAY_MS }],
    ['of another host', { name: 'other.example' }],
    ['without a trusted issuer', { vouched: false }],
  ])('with a certificate %s is rejected', async (_name, certificate) => {
    await expect(post(await endpoint(certificate))).resolves.toEqual(failed('tls'))
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'that asks for a client certificate is rejected with %s',
    async (version) => {
      const { private: key, cert } = await generate([{ name: 'commonName', value: 'client.example' }], {
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'client.example' }] }],
        ca: { key: ca.private, cert: ca.cert },
      })
      const server = createTlsServer(
        { key, cert, requestCert: true, rejectUnauthorized: true, minVersion: version, maxVersion: version },
        (_request, response) => response.end(),
      )
      server.on('tlsClientError', () => {})
      const url = `https://client.example:${await listen(server)}/`
      for (let n = 0; n < 5; n += 1)
        await expect(post(url)).resolves.toEqual({
          kind: 'unreachable',
          reason: 'tls',
          detail: expect.stringMatching(/certificate required|handshake failure|bad certificate/) as string,
        })
    },
  )

  test.each([
    [116, 'certificate required'],
    [42, 'bad certificate'],
    [48, 'unknown ca'],
    [49, 'access denied'],
    [112, 'unrecognized name'],
  ])('that ends with the alert %i is rejected, and the alert named', async (alert, name) => {
    const url = await urlOf((socket) => void socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert])))
    const outcome = await post(url.replace('http:', 'https:').replace('127.0.0.1', 'client.example'))
    expect(outcome).toMatchObject({ kind: 'unreachable', reason: 'tls' })
    expect(outcome.detail).toContain(name)
  })

  test('that ends in its handshake is rejected', async () => {
    const url = await urlOf((socket) => socket.resetAndDestroy())
    const outcome = await post(url.replace('http:', 'https:').replace('127.0.0.1', 'client.example'))
    expect(outcome).toEqual({ kind: 'unreachable', reason: expect.stringMatching(/^(reset|tls)$/) as string })
  })

  test('that never ends its handshake is cut off at the deadline', async () => {
    const url = await urlOf(() => {})
    await expect(post(url.replace('http:', 'https:').replace('127.0.0.1', 'client.example'))).resolves.toEqual(
      failed('timeout'),
    )
  })
})
