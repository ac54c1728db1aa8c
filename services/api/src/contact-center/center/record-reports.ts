import { type AgentStatus, type CallId, CallState, type CallStatus, type Tenant } from '@switchhook/contracts'
import { applyReport, type Leg, type LegReport } from '@switchhook/platform'
import type { NewEvent, Writing } from '../../state/transact.ts'
import { agentKey, agentOf } from './agent.ts'
import { applyLegs } from './agent-model.ts'
import { type Call, callKey, callRecord, isLive, newCall, REMEMBERED_MS } from './call.ts'
import { probeTimer } from './silent-call-probe.ts'

/** Keys of the records that the reports change, each once. */
export function keysOf(reports: readonly LegReport[]): readonly string[] {
  const keys = reports.flatMap(({ callId, agentUri }) => [callKey(callId), agentKey(agentUri)])
  return [...new Set(keys)]
}

/** How far the clocks of two replicas may differ. */
const CLOCKS_MS = 60_000

/**
 * Applies reports that belong together to the stored calls and agents. Undefined: the reports say nothing new. Pure.
 * @param nowMs milliseconds since 1970
 */
export function recordReports(
  stored: ReadonlyMap<string, unknown>,
  reports: readonly LegReport[],
  wrapUpMs: number,
  nowMs: number,
): Writing | undefined {
  const calls = new Map<CallId, Call>()
  const changed: { readonly status: CallStatus; readonly at: string }[] = []
  for (const report of reports) {
    const known = calls.get(report.callId) ?? (stored.get(callKey(report.callId)) as Call | undefined)
    // The first report of a call is never so late: the end was recorded, and reported again after an outage.
    const isForgotten = nowMs - Date.parse(report.at) > REMEMBERED_MS - CLOCKS_MS
    if (known === undefined && report.state === CallState.ended && isForgotten) continue
    // Without a stored call, it was not dialled through the api.
    const call = known ?? newCall(report, report.at)
    const begun = beginningOf(call, report)
    const leg = applyReport(begun ?? call.legs[report.agentUri], report)
    if (leg === undefined) continue
    if (begun !== undefined) changed.push({ status: begun.status, at: call.createdAt })
    calls.set(call.callId, { ...call, isAbandoned: false, legs: { ...call.legs, [report.agentUri]: leg } })
    changed.push({ status: leg.status, at: report.at })
  }
  const [first] = reports
  if (first === undefined || changed.length === 0) return undefined
  const agents = [...Map.groupBy(changed, ({ status }) => status.agentUri)].map(([agentUri, own]) => {
    const agent = agentOf(stored.get(agentKey(agentUri)), agentUri)
    const at = own.reduce((latest, one) => (one.at > latest ? one.at : latest), '')
    const legs = own.map(({ status }) => status)
    return applyLegs(agent, legs, at, wrapUpMs)
  })
  const { tenant } = first
  return {
    records: [
      ...[...calls.values()].map(callRecord),
      ...agents.map(({ agent }) => ({ key: agentKey(agent.agentUri), value: agent })),
    ],
    events: [
      ...changed.map(({ status }) => callEvent(tenant, status)),
      ...agents.flatMap(({ status }) => (status === null ? [] : [agentEvent(tenant, status)])),
    ],
    timers: [
      ...[...calls.values()]
        .filter((call) => isLive(call) && !isKnownLive(stored, call))
        .map(({ callId }) => probeTimer(callId)),
      ...agents.flatMap(({ timers }) => timers),
    ],
  }
}

/** The call has had a live leg since an earlier commit, which set the timer of its probe. */
function isKnownLive(stored: ReadonlyMap<string, unknown>, { callId }: Call): boolean {
  const before = stored.get(callKey(callId)) as Call | undefined
  return before !== undefined && isLive(before)
}

/** A leg that was dialled through the api is in one of these states when its first report was lost. */
const AFTER_INITIATED: readonly CallState[] = [
  CallState.proceeding,
  CallState.connected,
  CallState.held,
  CallState.ended,
]

/**
 * The leg of a dial as `initiated`, if a later state is the first that is recorded: the answer to the dial promised this
 * event. Undefined for every other report.
 */
function beginningOf({ legs, dialled, createdAt }: Call, report: LegReport): Leg | undefined {
  const isFirst = legs[report.agentUri] === undefined && dialled?.agentUri === report.agentUri
  if (!isFirst || !AFTER_INITIATED.includes(report.state)) return undefined
  return applyReport(undefined, {
    ...report,
    order: report.order - 1,
    at: createdAt,
    commandId: dialled.commandId,
    state: CallState.initiated,
    remoteHeld: false,
    transfer: null,
    consultation: null,
    ending: null,
    failedCommand: null,
  })
}

const callEvent = (tenant: Tenant, status: CallStatus): NewEvent => ({
  eventType: 'call.status',
  occurredAt: status.occurredAt,
  tenant,
  data: { ...status },
})

export const agentEvent = (tenant: Tenant, status: AgentStatus): NewEvent => ({
  eventType: 'agent.status',
  occurredAt: status.occurredAt,
  tenant,
  data: { ...status },
})
