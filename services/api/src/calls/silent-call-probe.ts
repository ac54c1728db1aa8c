import { CallState, Direction, EndedBy, EndReason, PartyType, Role } from '@switchhook/contracts'
import type { LegReport } from '@switchhook/platform'
import { type Call, hasBegun } from './call.ts'

/**
 * What is to be recorded of a call that has been silent for long, now that the platform was asked: what it told, and an
 * end with reason platformLost for every leg that it does not know. Nobody stays in a call for ever because an event
 * was lost. A dial that may have been sent, and of which the platform knows nothing, ends before it began.
 */
export function auditCall(call: Call, told: readonly LegReport[], at: string): readonly LegReport[] {
  if (told.length === 0 && !hasBegun(call)) return neverBegun(call, at)
  const known = new Set(told.map(({ agentUri }) => agentUri))
  const lost = Object.values(call.legs).filter(
    ({ status }) => status.state !== CallState.ended && !known.has(status.agentUri),
  )
  return [
    ...told,
    ...lost.map(
      ({ order, status }): LegReport => ({
        tenant: call.tenant,
        callId: status.callId,
        agentUri: status.agentUri,
        order: order + 1,
        at,
        commandId: null,
        state: CallState.ended,
        direction: status.direction,
        role: status.role,
        internal: status.internal,
        remoteParty: status.remoteParty,
        device: status.device,
        cli: status.cli,
        correlationId: status.correlationId,
        remoteHeld: false,
        transfer: status.transfer,
        consultation: status.consultation,
        ending: LOST,
        failedCommand: null,
      }),
    ),
  ]
}

const LOST = { endReason: EndReason.platformLost, endedBy: EndedBy.system, cause: null, sipCode: null }

function neverBegun({ tenant, callId, dialled, isAbandoned }: Call, at: string): readonly LegReport[] {
  if (dialled === null || isAbandoned) return []
  const { agentUri, destination, cli, correlationId, commandId } = dialled
  return [
    {
      tenant,
      callId,
      agentUri,
      order: 0,
      at,
      commandId,
      state: CallState.ended,
      direction: Direction.outbound,
      role: Role.originator,
      internal: false,
      remoteParty: { uri: destination, number: null, name: null, type: PartyType.unknown },
      device: null,
      cli,
      correlationId,
      remoteHeld: false,
      transfer: null,
      consultation: null,
      ending: LOST,
      failedCommand: null,
    },
  ]
}
