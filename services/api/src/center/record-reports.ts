import type { AgentStatus, CallId, CallStatus } from '@switchhook/contracts'
import { applyReport, type LegReport } from '@switchhook/platform'
import { type Agent, agentKey, newAgent } from '../agents/agent.ts'
import { applyLegs } from '../agents/agent-model.ts'
import { type Call, callKey, callOf, callRecord, isLive } from '../calls/call.ts'
import { PROBE_SILENT_MS, probeTimer } from '../calls/silent-call-probe.ts'
import type { NewEvent, Writing } from '../state/transact.ts'

/** Keys of the records that the reports change, each once. */
export function keysOf(reports: readonly LegReport[]): readonly string[] {
  const keys = reports.flatMap(({ callId, agentUri }) => [callKey(callId), agentKey(agentUri)])
  return [...new Set(keys)]
}

/**
 * Applies reports that belong together to the stored calls and agents. The result holds the next records, one event for
 * every changed leg and agent, and the timers. It is undefined if the reports say nothing new. Pure.
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
      ...[...calls.values()].filter(isLive).map(({ callId }) => probeTimer(callId, PROBE_SILENT_MS)),
      ...agents.flatMap(({ timers }) => timers),
    ],
  }
}

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
