import { isDeepStrictEqual } from 'node:util'
import { AgentReason, type AgentStatus, CallState, type CallStatus } from '@switchhook/contracts'
import type { DeviceReport } from '@switchhook/platform'
import { type Agent, type AgentCall, type PresenceSetting, viewOf } from './agent.ts'

/** What a timer of an agent was set for: it means nothing if that is no longer so. */
export interface AgentTimerPayload {
  readonly agentUri: string
  readonly ends: 'temporary' | 'wrap-up'
  readonly until: string
}

export interface AgentTimer {
  readonly id: string
  readonly dueInMs: number
  readonly payload: AgentTimerPayload
}

/** What something makes of an agent. */
export interface AgentChange {
  readonly agent: Agent
  /** Data of the event that tells of it; null: nothing that others can see has changed. */
  readonly status: AgentStatus | null
  readonly timers: readonly AgentTimer[]
}

/** The agent and timers that one rule leads to, before it is known what others see of it. */
interface Draft {
  readonly agent: Agent
  readonly timers: readonly AgentTimer[]
}

/** States of a leg in which its agent is on the phone: a call that only rings is none. */
const ON_THE_PHONE: readonly CallState[] = [
  CallState.initiated,
  CallState.proceeding,
  CallState.connected,
  CallState.held,
]

/**
 * Legs of this agent that have just changed, all of one moment. The first leg on which the agent dials or talks begins
 * `On the phone`; the end of the last one ends it, and begins after-call work if any of them was answered.
 * @param options.wrapUpMs how long after-call work lasts; 0: there is none
 */
export function applyLegs(
  agent: Agent,
  legs: readonly CallStatus[],
  { wrapUpMs }: { readonly wrapUpMs: number },
): AgentChange {
  const changed = new Set(legs.map(({ callId }) => callId))
  const at =
    legs
      .map(({ occurredAt }) => occurredAt)
      .toSorted()
      .at(-1) ?? new Date(0).toISOString()
  const calls = callsAfter(agent.calls, legs)
  const next: Agent = { ...agent, calls, reserved: agent.reserved.filter(({ callId }) => !changed.has(callId)) }
  const wasAnswered = agent.overlay?.kind === 'call' && agent.overlay.isAnswered
  const isAnswered = wasAnswered || legs.some(({ answeredAt }) => answeredAt !== null)
  const isOnThePhone =
    calls.some(({ state }) => ON_THE_PHONE.includes(state)) || (agent.overlay?.kind === 'call' && calls.length > 0)

  if (isOnThePhone) {
    const reason = agent.overlay?.kind === 'call' ? AgentReason.device : AgentReason.callStarted
    return told(agent, { agent: { ...next, overlay: { kind: 'call', isAnswered } }, timers: [] }, reason, at)
  }
  if (agent.overlay?.kind !== 'call') return told(agent, { agent: next, timers: [] }, AgentReason.device, at)
  if (isAnswered && wrapUpMs > 0) {
    return told(agent, wrapUp(next, wrapUpMs, at), AgentReason.afterCallWorkStarted, at)
  }
  return told(agent, uncover(next, at), AgentReason.ended, at)
}

/** Undefined: an older report, or the same again. */
export function applyDevice(agent: Agent, { order, online, at }: DeviceReport): AgentChange | undefined {
  if (order <= agent.deviceOrder) return undefined
  const next = { ...agent, isOnline: online, deviceOrder: order }
  return told(agent, { agent: next, timers: [] }, AgentReason.device, at)
}

/**
 * What a client sets. During a call it is kept for afterwards, and the latest wins; during after-call work it ends that;
 * else it counts at once.
 */
export function applyPresence(agent: Agent, setting: PresenceSetting, at: string): AgentChange {
  if (agent.overlay?.kind === 'call') {
    return told(agent, { agent: { ...agent, pending: setting }, timers: [] }, AgentReason.setByApi, at)
  }
  const draft = set({ ...agent, overlay: null, pending: null }, setting, at)
  const hasLogged = viewOf(agent).loggedOn !== viewOf(draft.agent).loggedOn
  return told(agent, draft, hasLogged ? AgentReason.logonOrLogoff : AgentReason.setByApi, at)
}

/** Undefined: what the timer was set for is no longer so. */
export function applyTimer(agent: Agent, { ends, until }: AgentTimerPayload, at: string): AgentChange | undefined {
  if (ends === 'temporary') {
    if (agent.temporary?.until !== until) return undefined
    return told(agent, { agent: { ...agent, temporary: null }, timers: [] }, AgentReason.untilExpired, at)
  }
  if (agent.overlay?.kind !== 'wrap-up' || agent.overlay.until !== until) return undefined
  return told(agent, uncover(agent, at), AgentReason.ended, at)
}

function callsAfter(calls: readonly AgentCall[], legs: readonly CallStatus[]): readonly AgentCall[] {
  const byId = new Map(calls.map((call) => [call.callId, call]))
  for (const { callId, state } of legs) {
    if (state === CallState.ended) byId.delete(callId)
    else byId.set(callId, { callId, state })
  }
  return [...byId.values()]
}

function set(agent: Agent, { until, ...standing }: PresenceSetting, at: string): Draft {
  if (until === null) return { agent: { ...agent, standing, temporary: null }, timers: [] }
  return {
    agent: { ...agent, temporary: { ...standing, until } },
    timers: [timer(agent, { ends: 'temporary', until }, at)],
  }
}

function wrapUp(agent: Agent, wrapUpMs: number, at: string): Draft {
  const until = new Date(Date.parse(at) + wrapUpMs).toISOString()
  return {
    agent: { ...agent, overlay: { kind: 'wrap-up', until } },
    timers: [timer(agent, { ends: 'wrap-up', until }, at)],
  }
}

/** The overlay ends, and what was set meanwhile counts now, unless its own time is over already. */
function uncover(agent: Agent, at: string): Draft {
  const { pending } = agent
  const bare = { ...agent, overlay: null, pending: null }
  const isExpired = pending?.until != null && Date.parse(pending.until) <= Date.parse(at)
  return pending === null || isExpired ? { agent: bare, timers: [] } : set(bare, pending, at)
}

/** One timer per agent and purpose: setting it again moves it. */
const timer = ({ agentUri }: Agent, payload: Omit<AgentTimerPayload, 'agentUri'>, at: string): AgentTimer => ({
  id: `agent:${payload.ends}:${agentUri}`,
  dueInMs: Math.max(0, Date.parse(payload.until) - Date.parse(at)),
  payload: { agentUri, ...payload },
})

/** An event is due exactly when others see a difference. */
function told(before: Agent, { agent, timers }: Draft, reason: AgentReason, at: string): AgentChange {
  const old = viewOf(before)
  const view = viewOf(agent)
  if (isDeepStrictEqual(old, view)) return { agent, status: null, timers }
  const sequence = before.sequence + 1
  const since = view.statusCode === old.statusCode ? before.since : at
  const status: AgentStatus = {
    agentUri: agent.agentUri,
    ...view,
    previousStatusCode: old.statusCode,
    previousDeviceStatus: old.deviceStatus,
    reason,
    sequence,
    occurredAt: at,
  }
  return { agent: { ...agent, sequence, since }, status, timers }
}
