import { createHash } from 'node:crypto'
import { type CallId, uuidV5 } from '@switchhook/contracts'
import type { ProvisionedAgent } from '../platform.ts'
import type { LegCue } from './call-group.ts'
import { type PlannedCall, planCall, type Scenario } from './scenario.ts'
import type { MemoryChange, SimulatorMemory } from './storage.ts'

/** What an agent does at the phone; a transfer names its target by address. */
type PhoneCue =
  | Exclude<LegCue, { kind: 'transfer' }>
  | (Omit<Extract<LegCue, { kind: 'transfer' }>, 'target'> & { readonly target: string })

/** The next call is due, or an agent's next move. */
export type ScenarioTimer =
  | { readonly scenario: string; readonly call: number }
  | { readonly scenario: string; readonly callId: CallId; readonly move: PhoneCue }

export interface ScenarioDeps {
  readonly agents: readonly ProvisionedAgent[]
  readonly memory: SimulatorMemory
  readonly isIdle: (agent: ProvisionedAgent) => Promise<boolean>
  readonly ring: (
    agent: ProvisionedAgent,
    call: { readonly from: string; readonly ringForMs: null; readonly talkForMs: number },
    callId: CallId,
  ) => Promise<CallId | undefined>
  readonly dial: (agent: ProvisionedAgent, callId: CallId, destination: string) => Promise<void>
  readonly act: (tenant: string | null, callId: CallId, move: PhoneCue) => Promise<void>
}

/** How many agents are looked at for an idle one; if none is, the customer meets an engaged tone and is no call of ours. */
const TRIES = 8
const KEPT_MS = 24 * 60 * 60_000

/** Plays one stream of calls for the whole installation, however many replicas run: the memory says which call is next. */
export function createScenarioPlayer(scenario: Scenario, deps: ScenarioDeps) {
  const { memory, isIdle, ring, dial, act } = deps
  const { tenant } = scenario
  const id = createHash('sha256').update(JSON.stringify(scenario)).digest('hex').slice(0, 16)
  const namespace = uuidV5('00000000-0000-0000-0000-000000000000', id)
  const key = `simulated-scenario:${id}`
  const staff = deps.agents.filter((agent) => agent.tenant === tenant)

  async function idleFrom(part: number, except?: ProvisionedAgent): Promise<ProvisionedAgent | undefined> {
    for (let tried = 0; tried < Math.min(TRIES, staff.length); tried++) {
      const agent = staff[(Math.floor(part * staff.length) + tried) % staff.length]
      if (agent !== undefined && agent !== except && (await isIdle(agent))) return agent
    }
    return undefined
  }

  const timer = (name: string, dueInMs: number, payload: ScenarioTimer): MemoryChange['timers'][number] => ({
    id: `simulator:scenario:${id}:${name}`,
    dueInMs,
    payload,
  })

  /** Writes that the nth call is next; whoever comes second with it finds it written. */
  function scheduleNext(call: number, expectedVersion: number, dueInMs: number): Promise<'committed' | 'conflict'> {
    return memory.write(tenant, {
      records: [{ key, expectedVersion, value: { call }, ttlMs: KEPT_MS }],
      timers: [timer('next', dueInMs, { scenario: id, call })],
    })
  }

  async function begin(plan: PlannedCall, callId: CallId): Promise<void> {
    const agent = await idleFrom(plan.agentAt)
    if (agent === undefined) return
    const colleague = await idleFrom(plan.colleagueAt, agent)
    const moves = movesOf(plan, callId, agent.agentUri, colleague?.agentUri ?? '+15550100')
    // The moves are set before the call begins: one that comes too early for its call does no harm, a lost one would.
    await memory.write(tenant, {
      records: [],
      timers: moves.map(({ name, atMs, callId: inCall, move }) =>
        timer(`${callId}:${name}`, atMs, { scenario: id, callId: inCall, move }),
      ),
    })
    const talkForMs = plan.hangupAtMs + 120_000
    if (plan.isInbound) await ring(agent, { from: plan.number, ringForMs: null, talkForMs }, callId)
    else await dial(agent, callId, plan.number)
  }

  return {
    /** Begins the stream, unless it runs already. */
    async start(): Promise<void> {
      const [found] = await memory.read(tenant, [key])
      if (found === undefined || found.version === 0) await scheduleNext(0, 0, 0)
    },
    async due(of: string | null, due: ScenarioTimer): Promise<void> {
      // One that an earlier scenario has left behind.
      if (due.scenario !== id) return
      if ('move' in due) return act(of, due.callId, due.move)
      const [found] = await memory.read(tenant, [key])
      const present = found?.value as { readonly call: number } | undefined
      if (found === undefined || present?.call !== due.call) return
      const plan = planCall(scenario, due.call)
      await begin(plan, uuidV5(namespace, `call ${due.call}`) as CallId)
      await scheduleNext(due.call + 1, found.version, plan.nextInMs)
    },
  }
}

const move = (name: string, atMs: number, cue: PhoneCue) => ({ name, atMs, callId: cue.callId, move: cue })

/** What the agents do at their phones, and when. */
function movesOf(plan: PlannedCall, callId: CallId, agentUri: string, colleague: string) {
  const mine = { callId, agentUri, commandId: null }
  const moves = [move('hangup', plan.hangupAtMs, { ...mine, kind: 'hangup' })]
  if (plan.isInbound) moves.push(move('answer', plan.answerAtMs, { ...mine, kind: 'answer' }))
  if (plan.holdAtMs !== null && plan.resumeAtMs !== null) {
    moves.push(move('hold', plan.holdAtMs, { ...mine, kind: 'hold' }))
    moves.push(move('resume', plan.resumeAtMs, { ...mine, kind: 'resume' }))
  }
  if (plan.transfer === null) return moves
  const { atMs, isAttended, completeAtMs } = plan.transfer
  const consultationCallId = isAttended ? (uuidV5(callId, 'consultation') as CallId) : null
  const inCall = consultationCallId ?? callId
  const theirs = { callId: inCall, agentUri: colleague, commandId: null }
  const transfer = { ...mine, kind: 'transfer' as const, correlationId: null, consultationCallId, target: colleague }
  moves.push(move('transfer', atMs, transfer))
  moves.push(move('colleague answers', atMs + Math.round((completeAtMs - atMs) / 2), { ...theirs, kind: 'answer' }))
  if (isAttended) moves.push(move('complete', completeAtMs, { ...mine, kind: 'completeTransfer' }))
  moves.push(move('colleague hangs up', plan.hangupAtMs + 5_000, { ...theirs, callId, kind: 'hangup' }))
  return moves
}
