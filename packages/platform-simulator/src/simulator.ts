/**
 * The simulated contact center: commands in, scheduled steps, reports out.
 *
 * 1. A command, an action of an outside party or a due timer becomes a *step* of a *call group*, which is a call with
 *    its consultations. `beginDial` and `beginInbound` make the first step of a call.
 * 2. `apply-step.ts` applies the step. It is pure; its rules, and the behaviour of phone numbers, are in
 *    `call-rules` of packages/platform. A `Draft` collects the results: the next
 *    call group, the reports, and steps to schedule, for example the answer of the called party.
 * 3. `step-runner.ts` stores the call group and the timers of the scheduled steps in one write, then reports the legs
 *    to the listener. A due timer comes back through `due`, on any replica, and is the next step.
 *
 * `createOneTalk` holds a call if its agent is connected to another one. `createDevices` stores which agents' devices
 * are online. `scenario-runner.ts` generates calls of a busy contact center.
 */

import { type CallId, newCallId, type Tenant } from '@switchhook/contracts'
import {
  type AdapterStorage,
  type AgentStep,
  beginDial,
  beginInbound,
  createAgentList,
  createDevices,
  createOneTalk,
  type DeviceState,
  type DeviceTimer,
  type InboundCall,
  isSameAddress,
  type LegCommand,
  type LegReport,
  legCommands,
  type Party,
  type Platform,
  type PlatformListener,
  type ProvisionedAgent,
  presentationOf,
  type RemoteAction,
  type Surroundings,
} from '@switchhook/platform'
import { createDirectory } from './agents.ts'
import type { Scenario } from './scenario.ts'
import { createScenarioRunner, type ScenarioTimer } from './scenario-runner.ts'
import { createStepRunner, type StepTimer } from './step-runner.ts'

export interface SimulatorDeps extends Omit<Surroundings, 'listener'> {
  readonly agents: readonly ProvisionedAgent[]
  /** Generates calls; null: only clients and the development endpoints make calls. */
  readonly scenario: Scenario | null
  readonly storage: AdapterStorage
}

/** A platform without telephones, for development and tests, with control over the outside parties and the devices. */
export interface Simulator extends Platform {
  /** Handles a due timer that the simulator has written. If it rejects, the timer must be repeated. */
  due(timer: { readonly tenant: Tenant; readonly payload: unknown }): Promise<void>
  /** Finds an agent by URI, in any tenant if none is given. */
  findAnyAgent(agentUri: string, tenant?: string): ProvisionedAgent | undefined
  /** Rings an agent from outside. Resolves to the new call, or to undefined if the device is offline or busy. */
  ring(agent: ProvisionedAgent, call: InboundCall, callId?: CallId): Promise<CallId | undefined>
  /** Lets the outside party of a call act. `false`: the call does not exist in the tenant, or in any if none is given. */
  remote(callId: CallId, action: RemoteAction, tenant?: string): Promise<boolean>
  setDevice(agent: ProvisionedAgent, online: boolean): Promise<void>
}

/** The lines of a device: one active call, and one that rings or is held. */
const LINES = 2
/** After this time, a timer repeats what a process left undone when a device changed. */
const DEVICE_AGAIN_MS = 5_000

export function createSimulator(deps: SimulatorDeps): Simulator {
  const { agents, scenario, storage, liveCalls, onError, now } = deps
  const { find, partyOf } = createDirectory(agents)
  const tenants = [...new Set(agents.map(({ tenant }) => tenant))]
  let listener: PlatformListener | undefined
  const inProgress = new Set<Promise<unknown>>()
  const common = { storage, liveCalls, onError, listener: () => listener, now }
  const devices = createDevices({
    ...common,
    prefix: { record: 'simulated-device', timer: 'simulator:device' },
    timerMs: DEVICE_AGAIN_MS,
  })
  const steps = createStepRunner({ ...common, deviceOf, onConnected: (leg) => oneTalk(leg) })

  async function deviceOf(tenant: Tenant, agentUri: string): Promise<DeviceState> {
    const [isOnline, calls] = await Promise.all([devices.isOnline(tenant, agentUri), liveCalls(tenant, agentUri)])
    if (!isOnline) return 'offline'
    return calls.length < LINES ? 'free' : 'busy'
  }

  /** Lets `stop` wait for the work. */
  function track<T>(work: Promise<T>): Promise<T> {
    inProgress.add(work)
    const remove = (): void => void inProgress.delete(work)
    work.then(remove, remove)
    return work
  }

  const isoNow = (): string => new Date(now()).toISOString()

  const legsOf = async (tenant: Tenant, callId: CallId): Promise<readonly LegReport[]> =>
    (await steps.find(tenant, callId))?.legs.filter((leg) => leg.callId === callId) ?? []

  const oneTalk = createOneTalk({ ...steps, legsOf, liveCalls })

  const dialParty = async (
    { tenant, callId, agentUri }: Omit<LegCommand, 'commandId'>,
    destination: string,
    dial: Parameters<typeof beginDial>[1],
  ): Promise<void> => {
    const called = partyOf(tenant, destination)
    const newCall = { tenant, callId, caller: partyOf(tenant, agentUri), called, at: isoNow() }
    await track(steps.beginOnce(beginDial(newCall, dial)))
  }

  /** The agent's device is offline: ends the agent's calls, or lets their transfers continue without the agent. */
  const leaveCalls = async (tenant: Tenant, agentUri: string): Promise<void> => {
    const calls = await liveCalls(tenant, agentUri)
    for (const { callId } of calls) await steps.apply(tenant, callId, { kind: 'device-offline', agentUri })
  }

  async function timerDue(tenant: Tenant, payload: StepTimer | DeviceTimer | ScenarioTimer): Promise<void> {
    if ('sessionId' in payload) await steps.apply(tenant, payload.sessionId, payload.cue)
    else if ('deviceOf' in payload) {
      const device = await devices.report(tenant, payload.deviceOf)
      if (device?.online === false) await leaveCalls(tenant, payload.deviceOf)
    } else await scenarioRunner?.due(tenant, payload)
  }

  async function ring(
    { tenant, agentUri }: ProvisionedAgent,
    call: InboundCall,
    callId = newCallId(),
  ): Promise<CallId | undefined> {
    if ((await deviceOf(tenant, agentUri)) !== 'free') return undefined
    const caller: Party = { kind: 'outside', address: call.from }
    const newCall = { tenant, callId, caller, called: partyOf(tenant, agentUri), at: isoNow() }
    await track(steps.begin(beginInbound(newCall, call)))
    return callId
  }

  const scenarioRunner =
    scenario === null
      ? undefined
      : createScenarioRunner(scenario, {
          agents,
          storage,
          isIdle: async ({ tenant, agentUri }) =>
            (await liveCalls(tenant, agentUri)).length === 0 && (await deviceOf(tenant, agentUri)) === 'free',
          ring,
          dial: ({ tenant, agentUri }, callId, destination) =>
            dialParty({ tenant, callId, agentUri }, destination, { commandId: null, cli: null, correlationId: null }),
          act: async (tenant, callId, move) => {
            const step: AgentStep =
              move.kind === 'transfer'
                ? { ...move, target: { ...partyOf(tenant, move.target), asked: move.target } }
                : move
            await steps.apply(tenant, callId, step)
          },
        })

  return {
    async start(given) {
      listener = given
      await scenarioRunner?.start()
    },
    async stop() {
      await Promise.allSettled(inProgress)
      listener = undefined
    },
    due: async ({ tenant, payload }) => {
      await track(timerDue(tenant, payload as StepTimer | DeviceTimer | ScenarioTimer))
    },
    findAgent: async (tenant, agentUri) => find(tenant, agentUri),
    listAgents: createAgentList(agents),
    findAnyAgent: (agentUri, tenant) =>
      tenant === undefined ? agents.find((agent) => isSameAddress(agent.agentUri, agentUri)) : find(tenant, agentUri),
    dial: ({ destination, cli, ...call }) => {
      // A colleague sees who calls, and no number.
      const isShown = cli !== null && partyOf(call.tenant, destination).kind === 'outside'
      return dialParty(call, destination, { ...call, cli: isShown ? presentationOf(cli) : null })
    },
    ...legCommands({
      apply: ({ tenant, known }, step) => track(steps.apply(tenant, step.callId, step, known)),
      legsOf,
      partyOf,
    }),
    lookUp: legsOf,
    ring,
    remote: async (callId, action, of) => {
      for (const tenant of of === undefined ? tenants : [of]) {
        if (await steps.apply(tenant, callId, { kind: 'remote', callId, action })) return true
      }
      return false
    },
    setDevice: async ({ tenant, agentUri }, online) => {
      if ((await devices.set(tenant, agentUri, online)) && !online) await leaveCalls(tenant, agentUri)
    },
  }
}
