import { CallState, Direction, EndedBy, EndReason, LegRole, newCallId, PartyType } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'

const CALL_ID = newCallId()

/** A platform report of alice's outbound leg. */
export function aReport(more: Partial<LegReport> = {}): LegReport {
  const order = more.order ?? 1
  const ending = { endReason: EndReason.normal, endedBy: EndedBy.remote, cause: 16, sipCode: null }
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
    cli: null,
    correlationId: null,
    remoteHeld: false,
    transfer: null,
    consultation: null,
    ending: more.state === CallState.ended ? ending : null,
    failedCommand: null,
    ...more,
  }
}
