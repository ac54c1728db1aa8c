import { createHash } from 'node:crypto'
import { type CallId, type Tenant, uuidV5 } from '@switchhook/contracts'
import type { AdapterStorage, AgentStep, InboundCall, ProvisionedAgent, StorageChange } from '@switchhook/platform'
import { type PlannedCall, planCall, type Scenario } from './scenario.ts'

/** An agent's step in a scenario. A transfer names its target by address. */
type Move =
  | Exclude<AgentStep, { kind: 'transfer' }>
  | (Omit<Extract<AgentStep, { kind: 'transfer' }>, 'target'> & { readonly target: string })

/** The stored payload of a scenario's timers: the next call, or an agent's move. */
export type ScenarioTimer =
  | { readonly scenario: string; readonly call: number }
  | { readonly scenario: string; readonly callId: CallId; readonly move: Move }

export interface ScenarioDeps {
  readonly agents: readonly ProvisionedAgent[]
  readonly storage: AdapterStorage
  readonly isIdle: (agent: ProvisionedAgent) => Promise<boolean>
  readonly ring: (agent: ProvisionedAgent, call: InboundCall, callId: CallId) => Promise<CallId | undefined>
  readonly dial: (agent: ProvisionedAgent, callId: CallId, destination: string) => Promise<void>
  readonly act: (tenant: Tenant, callId: CallId, move: Move) => Promise<void>
}

/** How many agents are tried. If none is idle, the call is skipped. */
const TRIED_AGENTS = 8
const KEPT_MS = 24 * 60 * 60_000

/**
 * Generates one stream of calls for the whole installation: the number of the next call is stored, for all replicas.
 */
export function createScenarioRunner(scenario: Scenario, deps: ScenarioDeps) {
  const { storage, isIdle, ring, dial, act } = deps
  const { tenant } = scenario
  const id = createHash('sha256').update(JSON.stringify(scenario)).digest('hex').slice(0, 16)
  const namespace = uuidV5('00000000-0000-0000-0000-000000000000', id)
  const key = `simulated-scenario:${id}`
  const staff = deps.agents.filter((agent) => agent.tenant === tenant)

  async function findIdle(part: number, except?: ProvisionedAgent): Promise<ProvisionedAgent | undefined> {
    for (let tried = 0; tried < Math.min(TRIED_AGENTS, staff.length); tried++) {
      const agent = staff[(Math.floor(part * staff.length) + tried) % staff.length]
      if (agent !== undefined && agent !== except && (await isIdle(agent))) return agent
    }
    return undefined
  }

  const timer = (name: string, dueInMs: number, payload: ScenarioTimer): StorageChange['timers'][number] => ({
    id: `simulator:scenario:${id}:${name}`,
    dueInMs,
    payload,
  })

  /** Stores that the given call is next. If another replica has stored it, nothing changes. */
  function scheduleNext(call: number, expectedVersion: number, dueInMs: number): Promise<'committed' | 'conflict'> {
    return storage.write(tenant, {
      records: [{ key, expectedVersion, value: { call }, ttlMs: KEPT_MS }],
      timers: [timer('next', dueInMs, { scenario: id, call })],
    })
  }

  async function begin(plan: PlannedCall, callId: CallId): Promise<void> {
    const agent = await findIdle(plan.agentAt)
    if (agent === undefined) return
    const colleague = await findIdle(plan.colleagueAt, agent)
    const moves = movesOf(plan, callId, agent.agentUri, colleague?.agentUri ?? '+15550100')
    // The moves are scheduled before the call begins: a move without its call is harmless, but a call without its moves
    // is not.
    await storage.write(tenant, {
      records: [],
      timers: moves.map(({ name, atMs, move }) =>
        timer(`${callId}:${name}`, atMs, { scenario: id, callId: move.callId, move }),
      ),
    })
    // Later than the agent's hang-up, for a call that has lost its agent.
    const talkForMs = plan.hangupAtMs + 120_000
    if (plan.isInbound) await ring(agent, { from: plan.number, ringForMs: null, talkForMs }, callId)
    else await dial(agent, callId, plan.number)
  }

  return {
    /** Starts the stream, unless it is running already. */
    async start(): Promise<void> {
      const [found] = await storage.read(tenant, [key])
      if (found === undefined || found.version === 0) await scheduleNext(0, 0, 0)
    },
    async due(timersTenant: Tenant, payload: ScenarioTimer): Promise<void> {
      // The timer belongs to a scenario that was configured before.
      if (payload.scenario !== id) return
      if ('move' in payload) return act(timersTenant, payload.callId, payload.move)
      const [found] = await storage.read(tenant, [key])
      const next = found?.value as { readonly call: number } | undefined
      if (found === undefined || next?.call !== payload.call) return
      const plan = planCall(scenario, payload.call)
      await begin(plan, uuidV5(namespace, `call ${payload.call}`) as CallId)
      await scheduleNext(payload.call + 1, found.version, plan.nextInMs)
    },
  }
}

/** The steps of the agents in a call, with the names of their timers. */
function movesOf(plan: PlannedCall, callId: CallId, agentUri: string, colleague: string) {
  const moves: { readonly name: string; readonly atMs: number; readonly move: Move }[] = []
  const add = (name: string, atMs: number, move: Move): void => void moves.push({ name, atMs, move })
  const own = { callId, agentUri, commandId: null }
  add('hangup', plan.hangupAtMs, { ...own, kind: 'hangup' })
  if (plan.isInbound) add('answer', plan.answerAtMs, { ...own, kind: 'answer' })
  if (plan.hold !== null) {
    add('hold', plan.hold.atMs, { ...own, kind: 'hold' })
    add('resume', plan.hold.resumeAtMs, { ...own, kind: 'resume' })
  }
  if (plan.transfer === null) return moves
  const { atMs, isAttended, completeAtMs } = plan.transfer
  const consultationCallId = isAttended ? (uuidV5(callId, 'consultation') as CallId) : null
  const theirs = { callId: consultationCallId ?? callId, agentUri: colleague, commandId: null }
  add('transfer', atMs, { ...own, kind: 'transfer', correlationId: null, consultationCallId, target: colleague })
  add('colleague answers', atMs + Math.round((completeAtMs - atMs) / 2), { ...theirs, kind: 'answer' })
  if (isAttended) add('complete', completeAtMs, { ...own, kind: 'completeTransfer' })
  add('colleague hangs up', plan.hangupAtMs + 5_000, { ...theirs, callId, kind: 'hangup' })
  return moves
}
