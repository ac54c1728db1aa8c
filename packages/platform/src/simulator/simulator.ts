import { type CallId, CallState, newCallId } from '@switchhook/contracts'
import type { LegCommand, Platform, PlatformListener, ProvisionedAgent } from '../platform.ts'
import { newDial, newInbound } from './begin-call.ts'
import type { LegCue, Party, RemoteAction } from './call-group.ts'
import { createDevices, type DeviceTimer } from './devices.ts'
import type { Scenario } from './scenario.ts'
import { createScenarioPlayer, type ScenarioTimer } from './scenario-runner.ts'
import { createSessions, type SessionTimer } from './step-runner.ts'
import type { SimulatorMemory } from './storage.ts'

export interface SimulatorDeps {
  readonly agents: readonly ProvisionedAgent[]
  /** A busy center that plays by itself; null: calls are made by clients and by the development endpoints alone. */
  readonly scenario: Scenario | null
  readonly memory: SimulatorMemory
  /** Calls in which the agent has a live leg, ringing ones included. */
  readonly liveCalls: (tenant: string | null, agentUri: string) => Promise<readonly CallId[]>
  readonly onError: (message: string, error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A customer who calls. */
export interface InboundCall {
  readonly from: string
  /** How long the customer waits for an answer. */
  readonly ringForMs: number | null
  /** How long the customer talks. */
  readonly talkForMs: number | null
}

/** A working contact center for people who build against the API. */
export interface Simulator extends Platform {
  /** A timer has fallen due that the simulator has set; rejects if it has to come again. */
  due(timer: { readonly tenant: string | null; readonly payload: unknown }): Promise<void>
  /** An agent by URI alone, of any tenant. */
  findAnyAgent(agentUri: string, tenant?: string): ProvisionedAgent | undefined
  /** Resolves to the new call, which will be told of; undefined if the agent's device does not take it. */
  ring(agent: ProvisionedAgent, call: InboundCall, callId?: CallId): Promise<CallId | undefined>
  /** The outside party of a call acts. `false`: no tenant knows the call. */
  remote(callId: CallId, action: RemoteAction): Promise<boolean>
  setDevice(agent: ProvisionedAgent, online: boolean): Promise<void>
}

export function createSimulator(deps: SimulatorDeps): Simulator {
  const { agents, scenario, memory, liveCalls, onError, now } = deps
  const byName = new Map(agents.map((agent) => [nameOf(agent.tenant, agent.agentUri), agent]))
  const tenants = [...new Set(agents.map(({ tenant }) => tenant))]
  let listener: PlatformListener | undefined
  const underWay = new Set<Promise<unknown>>()
  const common = { memory, listener: () => listener, now }
  const devices = createDevices({ ...common, liveCalls })
  const sessions = createSessions({ ...common, onError, deviceOf: (tenant, uri) => devices.stateOf(tenant, uri) })

  const find = (tenant: string | null, agentUri: string): ProvisionedAgent | undefined =>
    byName.get(nameOf(tenant, agentUri))

  function partyOf(tenant: string | null, address: string): Party {
    const agent = find(tenant, address)
    if (agent === undefined) return { kind: 'outside', address }
    return { kind: 'agent', agentUri: agent.agentUri, device: agent.device }
  }

  /** So that `stop` can wait for it. */
  function track<T>(work: Promise<T>): Promise<T> {
    underWay.add(work)
    const over = (): void => void underWay.delete(work)
    work.then(over, over)
    return work
  }

  const isoNow = (): string => new Date(now()).toISOString()

  async function onLeg({ tenant, callId }: LegCommand, cue: LegCue): Promise<void> {
    await track(sessions.apply(tenant, callId, cue))
  }

  /** Resolves to whether none of them is talked on any more. */
  async function holdOthers({ tenant, agentUri, commandId }: LegCommand, others: readonly CallId[]): Promise<boolean> {
    for (const callId of others) {
      await onLeg({ tenant, callId, agentUri, commandId }, { kind: 'hold', callId, agentUri, commandId })
      const session = await sessions.find(tenant, callId)
      const leg = session?.legs.find((one) => one.callId === callId && one.agentUri === agentUri)
      if (leg?.state === CallState.connected) return false
    }
    return true
  }

  const dialParty = async (
    call: { readonly tenant: string | null; readonly callId: CallId; readonly agentUri: string },
    destination: string,
    dial: Parameters<typeof newDial>[1],
  ): Promise<void> => {
    const { tenant, callId, agentUri } = call
    const called = partyOf(tenant, destination)
    const ends = { tenant, callId, caller: partyOf(tenant, agentUri), called, at: isoNow() }
    const { session, later } = newDial(ends, dial)
    await track(sessions.beginIfInDoubt(session, later))
  }

  const dropCalls = async (tenant: string | null, agentUri: string, callIds: readonly CallId[]): Promise<void> => {
    for (const callId of callIds) await sessions.apply(tenant, callId, { kind: 'device-gone', agentUri })
  }

  async function fallsDue(tenant: string | null, timer: SessionTimer | DeviceTimer | ScenarioTimer): Promise<void> {
    if ('sessionId' in timer) await sessions.apply(tenant, timer.sessionId, timer.cue)
    else if ('deviceOf' in timer) {
      await dropCalls(tenant, timer.deviceOf, await devices.tell(tenant, timer.deviceOf))
    } else await player?.due(tenant, timer)
  }

  async function ring(
    { tenant, agentUri }: ProvisionedAgent,
    { from, ringForMs, talkForMs }: InboundCall,
    callId = newCallId(),
  ): Promise<CallId | undefined> {
    if ((await devices.stateOf(tenant, agentUri)) !== 'free') return undefined
    const caller: Party = { kind: 'outside', address: from }
    const ends = { tenant, callId, caller, called: partyOf(tenant, agentUri), at: isoNow() }
    const { session, later } = newInbound(ends, { ringForMs, talkForMs })
    await track(sessions.begin(session, later))
    return callId
  }

  const player =
    scenario === null
      ? undefined
      : createScenarioPlayer(scenario, {
          agents,
          memory,
          isIdle: async ({ tenant, agentUri }) =>
            (await liveCalls(tenant, agentUri)).length === 0 && (await devices.stateOf(tenant, agentUri)) === 'free',
          ring,
          dial: ({ tenant, agentUri }, callId, destination) =>
            dialParty({ tenant, callId, agentUri }, destination, { commandId: null, cli: null, correlationId: null }),
          act: async (tenant, callId, cue) => {
            const target = cue.kind === 'transfer' ? { target: targetOf(tenant, cue.target) } : {}
            await sessions.apply(tenant, callId, { ...cue, ...target } as LegCue)
          },
        })

  const targetOf = (tenant: string | null, asked: string) => ({ ...partyOf(tenant, asked), asked })

  return {
    async start(told) {
      listener = told
      await player?.start()
    },
    async stop() {
      await Promise.allSettled(underWay)
      listener = undefined
    },
    due: async ({ tenant, payload }) => {
      await track(fallsDue(tenant, payload as SessionTimer | DeviceTimer | ScenarioTimer))
    },
    findAgent: async (tenant, agentUri) => find(tenant, agentUri),
    findAnyAgent: (agentUri, tenant) =>
      agents.find((agent) => agent.agentUri === agentUri && (tenant === undefined || agent.tenant === tenant)),
    dial: ({ destination, ...call }) => dialParty(call, destination, call),
    answer: async (command) => {
      const isFree = await holdOthers(command, command.holdFirst)
      await onLeg(command, { kind: isFree ? 'answer' : 'answer in vain', ...legOf(command) })
    },
    hangup: (command) => onLeg(command, { kind: 'hangup', ...legOf(command) }),
    hold: (command) => onLeg(command, { kind: 'hold', ...legOf(command) }),
    resume: async (command) => {
      const isFree = await holdOthers(command, command.holdFirst)
      await onLeg(command, { kind: isFree ? 'resume' : 'resume in vain', ...legOf(command) })
    },
    transfer: (command) => {
      const { tenant, target, correlationId, consultationCallId } = command
      const cue = { correlationId, consultationCallId, target: targetOf(tenant, target) }
      return onLeg(command, { kind: 'transfer', ...legOf(command), ...cue })
    },
    completeTransfer: (command) => onLeg(command, { kind: 'completeTransfer', ...legOf(command) }),
    lookUp: async (tenant, callId) => {
      const session = await sessions.find(tenant, callId)
      return session?.legs.filter((leg) => leg.callId === callId) ?? []
    },
    ring,
    remote: async (callId, action) => {
      for (const tenant of tenants) {
        if (await sessions.apply(tenant, callId, { kind: 'remote', callId, action })) return true
      }
      return false
    },
    setDevice: async ({ tenant, agentUri }, online) => {
      await dropCalls(tenant, agentUri, await devices.set(tenant, agentUri, online))
    },
  }
}

const legOf = ({ callId, agentUri, commandId }: LegCommand) => ({ callId, agentUri, commandId })

const nameOf = (tenant: string | null, agentUri: string): string => JSON.stringify([tenant, agentUri])
