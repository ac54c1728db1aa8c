import { CallState, Direction, EndedBy, EndReason, LegRole, newCallId, PartyType } from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'

const NORMAL_END = { endReason: EndReason.normal, endedBy: EndedBy.remote, cause: 16, sipCode: null }

/** A report of alice's outbound leg. An ended leg has a normal end. */
export function aReport(more: Partial<LegReport> = {}): LegReport {
  const order = more.order ?? 1
  return {
    tenant: 'acme',
    callId: CALL_ID,
    agentUri: 'sip:alice@acme.example',
    order,
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, order)).toISOString(),
    commandId: null,
    state: CallState.initiated,
    direction: Direction.outbound,
    role: LegRole.originator,
    internal: false,
    remoteParty: { uri: 'tel:+15550100', number: '+15550100', name: null, type: PartyType.external },
    device: 'SIM/alice',
    cli: '+15550199',
    correlationId: 'crm-4711',
    remoteHeld: false,
    transfer: null,
    consultation: null,
    ending: more.state === CallState.ended ? NORMAL_END : null,
    failedCommand: null,
    ...more,
  }
}

const CALL_ID = newCallId()
