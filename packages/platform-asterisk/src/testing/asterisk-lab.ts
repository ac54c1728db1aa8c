import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type CallId, newCallId } from '@switchhook/contracts'
import {
  asteriskFiles,
  createSipPhone,
  type OutsideWorld,
  openOutsideWorld,
  type PrivateAsterisk,
  privateAsterisk,
  type SipPhone,
} from '@switchhook/pbx'
import type { PlatformListener } from '@switchhook/platform'
import { type Harness, type Observer, RealTimeMemory } from '@switchhook/platform/conformance'
import { openHome } from '@switchhook/test-servers'
import { startTcpProxy, type TcpProxy } from '@switchhook/testkit'
import type { PbxAgent } from '../agents.ts'
import { type AriServer, bridgePath, channelPath, createAriClient } from '../ari/ari-client.ts'
import { hasChannel, readCalls } from '../ari/read-calls.ts'
import { type AsteriskPlatform, createAsterisk } from '../asterisk.ts'

const TENANT = 'acme'
const PEOPLE = [
  { name: 'alice', extension: '8101' },
  { name: 'bob', extension: '8102' },
  { name: 'carol', extension: '8103' },
]
const RING_SECONDS = 2
/** A busy machine must not lose it. */
const LEASE_MS = 1_000
const PATIENCE_MS = 15_000
const START_WITHIN_MS = 60_000
const POLL_MS = 10

/** Opens an agent's line (`extensions.conf`). */
const LINE_NUMBER = '*50'

const uriOf = (name: string): string => `sip:${name}@acme.example`

export type AsteriskLab = Awaited<ReturnType<typeof openAsteriskLab>>

export interface LabHarness extends Harness {
  readonly platform: AsteriskPlatform
  readonly memory: RealTimeMemory
  readonly until: (condition: () => boolean | Promise<boolean>) => Promise<void>
  /** One more replica on the same memory. */
  replica(observer: Observer): AsteriskPlatform
  readonly errors: readonly string[]
  /** How many channels belonged to no stored call, in each comparison with Asterisk's lists. */
  readonly unknown: readonly number[]
  readonly server: AriServer
}

/**
 * A real Asterisk with phones and an outside world, for the tests of one file.
 * @throws AsteriskUnavailable
 */
async function openAsteriskLab() {
  const root = await asteriskFiles()
  const folder = mkdtempSync(join(tmpdir(), 'asterisk-lab-'))
  const asterisk = await privateAsterisk(openHome(folder), root, PEOPLE)
  await asterisk.start()
  const { url, password, phonesUrl: phones } = asterisk
  const ari = createAriClient({ url, user: asterisk.user, password, ca: null })
  const proxy = await startTcpProxy(url.href)
  let world = await openOutsideWorld(url, password)
  const phoneOf = new Map(
    PEOPLE.map(({ name }) => [name, createSipPhone({ name, password, url: phones, understands: ['talk', 'header'] })]),
  )
  const phone = (name: string): SipPhone => {
    const found = phoneOf.get(name)
    if (found === undefined) throw new Error(`there is no phone of ${name}`)
    return found
  }
  let memory: RealTimeMemory | undefined

  const isOnline = async (name: string): Promise<boolean> => {
    const { body } = await ari.request('GET', `/endpoints/PJSIP/${name}`)
    return (body as { readonly state?: string }).state === 'online'
  }

  /** Removes the calls of an earlier test, waits until the phones have none, and registers every phone. */
  async function clear(): Promise<void> {
    const { channels, bridges } = await readCalls(ari)
    for (const { id } of channels) await ari.request('DELETE', channelPath(id))
    for (const { id } of bridges) await ari.request('DELETE', bridgePath(id))
    // Asterisk's list may keep a channel that has ended (`hasChannel`).
    await soon(() => [...phoneOf.values()].every(({ calls }) => calls.length === 0))
    for (const one of phoneOf.values()) {
      one.respondWith('180 Ringing')
      if (!one.isRegistered) await one.register()
    }
  }

  return {
    phone,
    /** Stops and starts Asterisk; phones and the outside world connect again. */
    async restart(): Promise<void> {
      world.close()
      for (const one of phoneOf.values()) one.die()
      await asterisk.stop()
      await asterisk.start()
      world = await openOutsideWorld(url, password)
      for (const one of phoneOf.values()) await one.register()
    },
    /** What Asterisk has. */
    calls: () => readCalls(ari),
    /** The number of channels and bridges that Asterisk has. */
    async leftovers() {
      const { channels, bridges } = await readCalls(ari)
      const exist = await Promise.all(channels.map(({ id }) => hasChannel(ari, id)))
      return exist.filter(Boolean).length + bridges.length
    },
    /** One more phone of a person, which takes the place of the first. */
    newPhone: (name: string, expiresSeconds: number) =>
      createSipPhone({ name, password, url: phones, understands: [], expiresSeconds }),
    isOnline,
    world: () => world,
    /**
     * Who talks with whom, and who waits on music: the names of phones, and `pstn` for each outside party, sorted. A phone that
     * hears nothing is left out. An outside party alone hears nothing, and is named.
     */
    async whoHears() {
      const { channels, bridges } = await readCalls(ari)
      const nameOf = new Map(channels.map(({ id, name }) => [id, /^PJSIP\/(.*)-\w+$/.exec(name)?.[1] ?? name]))
      const groups = (type: string) => bridges.flatMap((one) => (one.bridge_type === type ? [one.channels] : []))
      const served = new Set(bridges.flatMap((bridge) => bridge.channels))
      const unserved = channels.filter(({ id, state }) => state === 'Up' && !served.has(id)).map(({ id }) => [id])
      const named = (all: readonly (readonly string[])[]) =>
        all
          .map((ids) =>
            ids
              .map((id) => nameOf.get(id) ?? id)
              .toSorted()
              .join('+'),
          )
          .toSorted((a, b) => a.localeCompare(b))
      return {
        talking: named([...groups('mixing'), ...unserved]).filter((names) => names === 'pstn' || names.includes('+')),
        waiting: named(groups('holding')).filter((names) => names !== ''),
      }
    },
    /** Asterisk ends the channel of a phone. @param cause Q.850 */
    async endChannelOf(name: string, cause: string): Promise<void> {
      const { channels } = await readCalls(ari)
      // A channel of an earlier test may be ending.
      const own = channels.filter((channel) => channel.name.startsWith(`PJSIP/${name}-`))
      const newest = own.toSorted((a, b) => a.creationtime.localeCompare(b.creationtime)).at(-1)
      await ari.request('DELETE', channelPath(newest?.id ?? ''), { reason_code: cause })
    },
    /** Opens a new adapter after all calls have been ended. */
    async open(observer: Observer, answer: PbxAgent['answer'], ringSeconds = RING_SECONDS): Promise<LabHarness> {
      memory?.close()
      proxy.accept()
      await clear()
      memory = new RealTimeMemory()
      return openHarness(
        { asterisk, proxy, phone, isOnline, memory, world: () => world, ringSeconds },
        observer,
        answer,
      )
    },
    async close(): Promise<void> {
      memory?.close()
      world.close()
      for (const one of phoneOf.values()) one.die()
      await proxy.close()
      await ari.close()
      await asterisk.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Parts {
  readonly asterisk: PrivateAsterisk
  readonly proxy: TcpProxy
  readonly phone: (name: string) => SipPhone
  readonly isOnline: (name: string) => Promise<boolean>
  readonly memory: RealTimeMemory
  readonly world: () => OutsideWorld
  readonly ringSeconds: number
}

function openHarness(
  { asterisk, proxy, phone, isOnline, memory, world, ringSeconds }: Parts,
  observer: Observer,
  answer: PbxAgent['answer'],
): LabHarness {
  const { user, password } = asterisk
  const errors: string[] = []
  const unknown: number[] = []
  const callers = new Map<CallId, string>()

  const server = { url: new URL(proxy.url), user, password, ca: null }
  const replica = (newObserver: Observer): AsteriskPlatform =>
    createAsterisk({
      server,
      manager: { user, password },
      app: 'switchhook',
      agents: PEOPLE.map(({ name, extension }) => ({
        agentUri: uriOf(name),
        tenant: TENANT,
        endpoint: name,
        extension,
        answer,
      })),
      trunk: { endpoint: 'pstn', sipDomains: [] },
      defaultCli: '+15550000',
      ringSeconds,
      memory,
      liveCalls: async (_tenant, agentUri) => newObserver.liveLegs(agentUri),
      leaseMs: LEASE_MS,
      onError: (message, error) => void errors.push(`${message}: ${String(error)}`),
      onLink: () => {},
      verifyStorage: async () => {},
      onUnknown: ({ count }) => void unknown.push(count),
      now: Date.now,
    })

  let platform = replica(observer)
  memory.due = (timer) => platform.due(timer)

  const remoteAnswers = (): Promise<readonly boolean[]> =>
    Promise.all(PEOPLE.map(async ({ name }) => (await platform.findAgent(TENANT, uriOf(name)))?.remoteAnswer === true))

  /** The agents open their lines once the application has a client. */
  async function startWithLines(listener: PlatformListener): Promise<void> {
    await platform.start(listener)
    const phones = PEOPLE.map(({ name }) => phone(name))
    await until(() => phones.every(({ calls }) => calls.length === 0))
    for (const one of phones) one.dial(LINE_NUMBER)
    await until(() => phones.every(({ calls }) => calls.some(({ isTalking }) => isTalking)))
    // The phone learns first that its line is open. A call that came now would ring at the phone.
    await until(async () => (await remoteAnswers()).every(Boolean))
  }
  const withLines = (): AsteriskPlatform =>
    Object.create(platform, { start: { value: startWithLines } }) as AsteriskPlatform

  const until: LabHarness['until'] = (isSo) => soon(isSo, () => `; errors: ${errors.join('; ')}`)
  const nameOf = (agentUri: string): string => PEOPLE.find(({ name }) => uriOf(name) === agentUri)?.name ?? ''

  async function customerOf(callId: CallId): Promise<string> {
    // A transfer may have given the customer's call another id.
    const newest = (await world().channels()).findLast(({ state }) => state === 'Up')
    return callers.get(callId) ?? newest?.id ?? ''
  }

  return {
    platform: answer === 'connected' ? withLines() : platform,
    memory,
    replica,
    errors,
    unknown,
    server,
    tenant: TENANT,
    alice: uriOf('alice'),
    bob: uriOf('bob'),
    carol: uriOf('carol'),
    addresses: { answers: '+15550100', busy: '+15550101', neverAnswers: '+15550102', bad: '+15550103' },
    until,
    async ring(agentUri) {
      const before = new Set(observer.liveCalls(agentUri))
      const extension = PEOPLE.find(({ name }) => uriOf(name) === agentUri)?.extension ?? ''
      const channelId = await world().call(extension, '+15559000')
      const arrived = (): CallId | undefined => observer.liveCalls(agentUri).find((callId) => !before.has(callId))
      await until(() => arrived() !== undefined)
      const callId = arrived() ?? newCallId()
      callers.set(callId, channelId)
      return callId
    },
    hangupRemotely: async (callId) => world().hangup(await customerOf(callId)),
    holdRemotely: async (callId, isHeld) => world().hold(await customerOf(callId), isHeld),
    async setDevice(agentUri, online) {
      const name = nameOf(agentUri)
      if (online) return phone(name).register()
      phone(name).die()
      // Before that, a call would still be sent to the phone.
      await until(async () => !(await isOnline(name)))
    },
    cutOff: (isCut) => (isCut ? proxy.refuse() : proxy.accept()),
    async restart(newObserver) {
      memory.due = undefined
      await platform.kill()
      platform = replica(newObserver)
      memory.due = (timer) => platform.due(timer)
      await platform.start(newObserver.listener)
      return platform
    },
  }
}

async function soon(isSo: () => boolean | Promise<boolean>, more = () => ''): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await isSo()); await pause(POLL_MS)) {
    if (Date.now() > end) throw new Error(`the condition was not met in time${more()}`)
  }
}

/** Tests that share a real Asterisk. Without one they are skipped, with the reason in the name. */
export function describeWithAsterisk(name: string, tests: (lab: () => AsteriskLab) => void): void {
  const missing = process.env['ASTERISK_MISSING']
  if (missing !== undefined) return describe.skip(`${name} (${missing})`, () => test('is skipped', () => {}))
  describe(name, () => {
    let opened: AsteriskLab | undefined
    beforeAll(async () => {
      opened = await openAsteriskLab()
    }, START_WITHIN_MS)
    afterAll(() => opened?.close())
    tests(() => {
      if (opened === undefined) throw new Error('Asterisk has not been started')
      return opened
    })
  })
}
