import { isDeepStrictEqual } from 'node:util'
import { AgentReason, type AgentStatus, CallState, type CallStatus, occurredAfter } from '@switchhook/contracts'
import type { DeviceReport } from '@switchhook/platform'
import { type Agent, type AgentCall, type PresenceSetting, viewOf } from './agent.ts'

/** The status that a timer ends. The timer is ignored if the agent no longer has this status with this `until`. */
export interface AgentTimerPayload {
  readonly agentUri: string
  readonly ends: 'temporary' | 'wrap-up'
  readonly until: string
}

/** An agent after a change, with the event and the timers of the change. */
export type AgentChange = ReturnType<typeof changeOf>

/** Leg states in which the agent is on the phone. A ringing call is not one of them. */
const ON_THE_PHONE: readonly CallState[] = [
  CallState.initiated,
  CallState.proceeding,
  CallState.connected,
  CallState.held,
]

/**
 * Applies the legs of this agent that one report changed. The first leg on which the agent dials or talks starts
 * `On the phone`. The end of the last leg ends it, and starts after-call work if any of the legs was answered.
 * @param at time of the report. The `occurredAt` of a leg can be later (`occurredAfter`)
 * @param wrapUpMs length of after-call work; 0: none
 */
export function applyLegs(agent: Agent, legs: readonly CallStatus[], at: string, wrapUpMs: number): AgentChange {
  const changed = new Set(legs.map(({ callId }) => callId))
  const calls = callsAfter(agent.calls, legs)
  const next: Agent = { ...agent, calls, reserved: agent.reserved.filter(({ callId }) => !changed.has(callId)) }
  const wasAnswered = agent.overlay?.kind === 'call' && agent.overlay.isAnswered
  const isAnswered = wasAnswered || legs.some(({ answeredAt }) => answeredAt !== null)
  const isOnThePhone =
    calls.some(({ state }) => ON_THE_PHONE.includes(state)) || (agent.overlay?.kind === 'call' && calls.length > 0)

  if (isOnThePhone) {
    const reason = agent.overlay?.kind === 'call' ? AgentReason.device : AgentReason.callStarted
    return changeOf(agent, { ...next, overlay: { kind: 'call', isAnswered } }, reason, at)
  }
  if (agent.overlay?.kind !== 'call') return changeOf(agent, next, AgentReason.device, at)
  if (isAnswered && wrapUpMs > 0) {
    const until = new Date(Date.parse(at) + wrapUpMs).toISOString()
    return changeOf(agent, { ...next, overlay: { kind: 'wrap-up', until } }, AgentReason.afterCallWorkStarted, at)
  }
  return changeOf(agent, uncover(next, at), AgentReason.ended, at)
}

/** Returns undefined for an older report or a repeated one. */
export function applyDevice(agent: Agent, { order, online, at }: DeviceReport): AgentChange | undefined {
  if (order <= agent.deviceOrder) return undefined
  return changeOf(agent, { ...agent, isOnline: online, deviceOrder: order }, AgentReason.device, at)
}

/** During a call the setting waits for its end, and the latest one wins. During after-call work it ends that work. */
export function applyPresence(agent: Agent, setting: PresenceSetting, at: string): AgentChange {
  if (agent.overlay?.kind === 'call') {
    return changeOf(agent, { ...agent, pending: setting }, AgentReason.setByApi, at)
  }
  const next = set({ ...agent, overlay: null, pending: null }, setting)
  const hasLogged = viewOf(agent).loggedOn !== viewOf(next).loggedOn
  return changeOf(agent, next, hasLogged ? AgentReason.logonOrLogoff : AgentReason.setByApi, at)
}

/** Returns undefined if the status of the timer has ended already. */
export function applyTimer(agent: Agent, { ends, until }: AgentTimerPayload, at: string): AgentChange | undefined {
  if (ends === 'temporary') {
    if (agent.temporary?.until !== until) return undefined
    return changeOf(agent, { ...agent, temporary: null }, AgentReason.untilExpired, at)
  }
  if (agent.overlay?.kind !== 'wrap-up' || agent.overlay.until !== until) return undefined
  return changeOf(agent, uncover(agent, at), AgentReason.ended, at)
}

function callsAfter(calls: readonly AgentCall[], legs: readonly CallStatus[]): readonly AgentCall[] {
  const byId = new Map(calls.map((call) => [call.callId, call]))
  for (const { callId, state } of legs) {
    if (state === CallState.ended) byId.delete(callId)
    else byId.set(callId, { callId, state })
  }
  return [...byId.values()]
}

const set = (agent: Agent, { until, ...standing }: PresenceSetting): Agent =>
  until === null ? { ...agent, standing, temporary: null } : { ...agent, temporary: { ...standing, until } }

/** Ends the overlay. A pending setting takes effect unless its own `until` has passed. */
function uncover(agent: Agent, at: string): Agent {
  const { pending } = agent
  const bare = { ...agent, overlay: null, pending: null }
  const isExpired = pending?.until != null && Date.parse(pending.until) <= Date.parse(at)
  return pending === null || isExpired ? bare : set(bare, pending)
}

const endsOf = ({ temporary, overlay }: Agent) => ({
  temporary: temporary?.until,
  'wrap-up': overlay?.kind === 'wrap-up' ? overlay.until : undefined,
})

/** The timers of statuses with a new end: one timer per agent and kind of status, so setting it again moves it. */
function timersOf(before: Agent, agent: Agent, at: string) {
  const { agentUri } = agent
  const [old, next] = [endsOf(before), endsOf(agent)]
  return (['temporary', 'wrap-up'] as const).flatMap((ends) => {
    const until = next[ends]
    if (until === undefined || until === old[ends]) return []
    const dueInMs = Math.max(0, Date.parse(until) - Date.parse(at))
    return [
      { id: `agent:${ends}:${agentUri}`, dueInMs, payload: { agentUri, ends, until } satisfies AgentTimerPayload },
    ]
  })
}

/** The change to the next state of the agent. It has a `status`, the data of an event, exactly if the public state differs. */
function changeOf(before: Agent, agent: Agent, reason: AgentReason, at: string) {
  const timers = timersOf(before, agent, at)
  const old = viewOf(before)
  const view = viewOf(agent)
  if (isDeepStrictEqual(old, view)) return { agent, status: null, timers }
  const sequence = before.sequence + 1
  const occurredAt = occurredAfter(before.lastEventAt, at)
  const since = view.statusCode === old.statusCode ? before.since : occurredAt
  const status: AgentStatus = {
    agentUri: agent.agentUri,
    ...view,
    previousStatusCode: old.statusCode,
    previousDeviceStatus: old.deviceStatus,
    reason,
    sequence,
    occurredAt,
  }
  return { agent: { ...agent, sequence, since, lastEventAt: occurredAt }, status, timers }
}
