import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createObserver, type Observer, RealTimeMemory } from '@switchhook/conformance'
import { CallState, newCallId, newCommandId } from '@switchhook/contracts'
import { asteriskFiles, createSipPhone, type PrivateAsterisk, privateAsterisk } from '@switchhook/pbx'
import { PlatformUnavailable } from '@switchhook/platform'
import { type AsteriskPlatform, createAsterisk, watchAsterisk } from '@switchhook/platform-asterisk'
import { openHome } from '@switchhook/test-servers'
import { generate } from 'selfsigned'

const agentUri = 'sip:alice@acme.example'
const START_WITHIN_MS = 60_000
const IP_ADDRESS = 7

const missing = process.env['ASTERISK_MISSING']
const describeTls = missing === undefined ? describe : describe.skip

describeTls(`Asterisk over TLS${missing === undefined ? '' : ` (${missing})`}`, () => {
  let folder: string
  let asterisk: PrivateAsterisk
  let ca: string
  let platform: AsteriskPlatform
  let memory: RealTimeMemory
  let observer: Observer
  let errors: string[]

  const authority = () =>
    generate([{ name: 'commonName', value: 'Test CA' }], {
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    })

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'asterisk-tls-'))
    const own = await authority()
    const { private: key, cert: certificate } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: IP_ADDRESS, ip: '127.0.0.1' }] }],
      ca: { key: own.private, cert: own.cert },
    })
    ca = own.cert
    const phones = [{ name: 'alice', extension: '8101' }]
    asterisk = await privateAsterisk(openHome(folder), await asteriskFiles(), phones, { certificate, key })
    await asterisk.start()
  }, START_WITHIN_MS)
  afterAll(async () => {
    await asterisk.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function open(trusted: string | null, password = asterisk.password): Promise<void> {
    observer = createObserver()
    memory = new RealTimeMemory()
    errors = []
    const { tlsUrl, user } = asterisk
    if (tlsUrl === null) throw new Error('Asterisk has no certificate')
    platform = createAsterisk({
      server: { url: tlsUrl, user, password, ca: trusted },
      manager: null,
      app: 'switchhook',
      agents: [{ agentUri, tenant: null, endpoint: 'alice', extension: '8101', answer: 'none' }],
      trunk: { endpoint: 'pstn', sipDomains: [] },
      defaultCli: '+15550000',
      ringSeconds: 2,
      memory,
      liveCalls: async () => observer.liveLegs(agentUri),
      leaseMs: 300,
      onError: (message, error) => void errors.push(`${message}: ${String(error)}`),
      verifyStorage: async () => {},
      onUnknown: () => {},
      onLink: () => {},
      now: Date.now,
    })
    memory.due = (timer) => platform.due(timer)
    await platform.start(observer.listener)
  }
  afterEach(async () => {
    await platform?.stop()
    memory?.close()
  })

  const dial = (callId = newCallId()) =>
    platform.dial({
      tenant: null,
      callId,
      agentUri,
      commandId: newCommandId(),
      destination: '+15550100',
      cli: null,
      correlationId: null,
    })

  test('with the certificate authority of its certificate, commands and events work', async () => {
    await open(ca)
    expect(platform.link).toBe('connected')
    const callId = newCallId()
    // No phone is registered, so the call ends immediately.
    await dial(callId)
    while (observer.latest(callId, agentUri)?.state !== CallState.ended) await new Promise(setImmediate)
    expect(observer.latest(callId, agentUri)).toMatchObject({ endReason: 10 })
  })

  test('with a wrong password, the reason is reported and nothing is sent', async () => {
    await open(ca, 'wrong-secret')
    expect(platform.link).toBe('lost')
    await expect(dial()).rejects.toThrow('refused the credentials (401)')
    expect(errors.join()).toContain('refused the credentials (401)')
    expect(errors.join()).not.toContain('wrong-secret')
  })

  test('a user who may only read sees phones and calls', async () => {
    const { tlsUrl, password, phonesUrl } = asterisk
    const lines: string[] = []
    const server = { url: tlsUrl ?? asterisk.url, user: 'onlooker', password, ca }
    const watch = await watchAsterisk(server, (line) => void lines.push(line))
    expect(lines).toContain('endpoint alice: offline')
    const phone = createSipPhone({ name: 'alice', password, url: phonesUrl, understands: [] })
    await phone.register()
    while (!lines.includes('endpoint alice: online')) await new Promise(setImmediate)
    phone.die()
    await watch.close()
    expect(await watch.closed).toBe('closed by us')
  })

  test('with another certificate authority, or only the public ones, nothing is sent', async () => {
    for (const trusted of [(await authority()).cert, null]) {
      await open(trusted)
      expect(platform.link).toBe('lost')
      await expect(dial()).rejects.toBeInstanceOf(PlatformUnavailable)
      expect(observer.reports()).toEqual([])
      expect(errors.join()).toMatch(/Asterisk cannot be reached: (SELF_SIGNED|UNABLE_TO|CERT_)/)
      await platform.stop()
      memory.close()
    }
  })
})
