import { setTimeout as pause } from 'node:timers/promises'
import type { Harness, Observer, RealTimeMemory } from '@switchhook/conformance'
import { type CallId, newCallId } from '@switchhook/contracts'
import type { OutsideWorld, PrivateAsterisk, SipPhone } from '@switchhook/pbx'
import type { PlatformListener } from '@switchhook/platform'
import { type AsteriskPlatform, createAsterisk, type PbxAgent, type watchAsterisk } from '@switchhook/platform-asterisk'
import type { TcpProxy } from '@switchhook/testkit'

const TENANT = 'acme'
export const PEOPLE = [
  { name: 'alice', extension: '8101' },
  { name: 'bob', extension: '8102' },
  { name: 'carol', extension: '8103' },
]
/** A busy machine must not lose it. */
const LEASE_MS = 1_000
const PATIENCE_MS = 15_000
const POLL_MS = 10

/** Opens an agent's line (`extensions.conf`). */
const LINE_NUMBER = '*50'

const uriOf = (name: string): string => `sip:${name}@acme.example`

export interface LabHarness extends Harness {
  readonly platform: AsteriskPlatform
  readonly memory: RealTimeMemory
  readonly until: (condition: () => boolean | Promise<boolean>) => Promise<void>
  /** One more replica on the same memory. */
  replica(observer: Observer): AsteriskPlatform
  readonly errors: readonly string[]
  /** How many channels belonged to no stored call, in each comparison with Asterisk's lists. */
  readonly unknown: readonly number[]
  readonly server: Parameters<typeof watchAsterisk>[0]
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

/** An adapter on the Asterisk of the lab, with the telephones around it. */
export function openHarness(
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

/** Resolves once the condition is true. */
export async function soon(isSo: () => boolean | Promise<boolean>, more = () => ''): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await isSo()); await pause(POLL_MS)) {
    if (Date.now() > end) throw new Error(`the condition was not met in time${more()}`)
  }
}
