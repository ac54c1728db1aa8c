import type { AgentStatus, CallId, CallStatus } from '@switchhook/contracts'
import { applyReport, type LegReport } from '@switchhook/platform'
import { type Agent, newAgent } from '../agents/agent.ts'
import { applyLegs } from '../agents/agent-model.ts'
import { type Call, callOf, isLive } from '../calls/call.ts'
import type { NewEvent, Writing } from '../state/transact.ts'
import { agentKey, auditTimerId, callKey } from './keys.ts'

/**
 * How long a call is remembered that has ended, so that a late command meets 409 and not 404 (at least 5 minutes), or that
 * has not got to the platform. One that lives is kept for as long as it does.
 */
export const REMEMBERED_MS = 10 * 60_000
/** A call of which nothing has been heard for so long is asked after. */
export const AUDIT_AFTER_MS = 5 * 60_000

/** The records that reports touch, without doubles. */
export function keysOf(reports: readonly LegReport[]): readonly string[] {
  const keys = reports.flatMap(({ callId, agentUri }) => [callKey(callId), agentKey(agentUri)])
  return [...new Set(keys)]
}

/**
 * Applies reports of one moment to the stored calls and agents. The result holds the next records, one event for every
 * leg and every agent that changed, and the timers. It is undefined if the reports say nothing new. Pure.
 */
export function recordReports(
  stored: ReadonlyMap<string, unknown>,
  reports: readonly LegReport[],
  options: { readonly wrapUpMs: number },
): Writing | undefined {
  const calls = new Map<CallId, Call>()
  const changed: CallStatus[] = []
  for (const report of reports) {
    const call = calls.get(report.callId) ?? (stored.get(callKey(report.callId)) as Call | undefined) ?? callOf(report)
    const leg = applyReport(call.legs[report.agentUri], report)
    if (leg === undefined) continue
    calls.set(call.callId, { ...call, legs: { ...call.legs, [report.agentUri]: leg } })
    changed.push(leg.status)
  }
  const [first] = reports
  if (first === undefined || changed.length === 0) return undefined
  const agents = [...new Set(changed.map(({ agentUri }) => agentUri))].map((agentUri) => {
    const agent = (stored.get(agentKey(agentUri)) as Agent | undefined) ?? newAgent(agentUri)
    const legs = changed.filter((status) => status.agentUri === agentUri)
    return applyLegs(agent, legs, options)
  })
  const { tenant } = first
  return {
    records: [
      ...[...calls.values()].map(callRecord),
      ...agents.map(({ agent }) => ({ key: agentKey(agent.agentUri), value: agent })),
    ],
    events: [
      ...changed.map((status) => callEvent(tenant, status)),
      ...agents.flatMap(({ status }) => (status === null ? [] : [agentEvent(tenant, status)])),
    ],
    timers: [
      ...[...calls.values()].filter(isLive).map(({ callId }) => auditTimer(callId, AUDIT_AFTER_MS)),
      ...agents.flatMap(({ timers }) => timers),
    ],
  }
}

export const callRecord = (call: Call): Writing['records'][number] => ({
  key: callKey(call.callId),
  value: call,
  ...(!isLive(call) && { ttlMs: REMEMBERED_MS }),
})

/** Moves with every change of the call, so it falls due only when nothing is heard of it any more. */
export const auditTimer = (callId: CallId, dueInMs: number) => ({
  id: auditTimerId(callId),
  dueInMs,
  payload: { callId },
})

const callEvent = (tenant: string | null, status: CallStatus): NewEvent => ({
  eventType: 'call.status',
  occurredAt: status.occurredAt,
  tenant,
  data: { ...status },
})

export const agentEvent = (tenant: string | null, status: AgentStatus): NewEvent => ({
  eventType: 'agent.status',
  occurredAt: status.occurredAt,
  tenant,
  data: { ...status },
})
