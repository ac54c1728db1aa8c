import {
  type CallId,
  CallState,
  type CommandId,
  Direction,
  EndedBy,
  EndReason,
  LegRole,
  PartyType,
} from '@switchhook/contracts'
import { type LegReport, remotePartyOf } from '@switchhook/platform'
import { type Call, hasBegun } from './call.ts'

/** A live call that the platform has not reported for this long is probed. */
export const PROBE_SILENT_MS = 5 * 60_000
/**
 * A dial that the platform has not reported is probed after this time. It must exceed the lease of an `Idempotency-Key`
 * (30 s): until then, the repeated request of a client can still send the dial after a crash.
 */
export const PROBE_UNREPORTED_DIAL_MS = 45_000

/**
 * The timer of the next probe. A live call always has one. Later changes do not move it, because each would cost Redis two
 * writes: when it falls due, `untilProbeMs` says whether the call is silent.
 */
export const probeTimer = (callId: CallId, dueInMs = PROBE_SILENT_MS) => ({
  id: `probe:${callId}`,
  dueInMs,
  payload: { callId },
})

/** How long the probe of a live call waits after the latest change of the call; 0: the call is silent. */
export function untilProbeMs({ legs }: Call, nowMs: number): number {
  const latestMs = Math.max(...Object.values(legs).map(({ status }) => Date.parse(status.occurredAt)))
  // The clock of the replica that reported may be ahead.
  return Math.min(Math.max(0, latestMs + PROBE_SILENT_MS - nowMs), PROBE_SILENT_MS)
}

/**
 * The reports to record after a probe: the platform's own, and an end with reason `platformLost` for every leg that the
 * platform does not know, so that a lost report leaves no agent in a call for ever. A dial that may have been sent, and
 * that the platform does not know, gets an end as well.
 * @param reported the platform's answer to `lookUp`
 * @param commandId the command that did not find the call
 */
export function reportsOfProbe(
  call: Call,
  reported: readonly LegReport[],
  at: string,
  commandId: CommandId | null = null,
): readonly LegReport[] {
  if (reported.length === 0 && !hasBegun(call)) return endOfUnreportedDial(call, at)
  const known = new Set(reported.map(({ agentUri }) => agentUri))
  const lost = Object.values(call.legs).filter(
    ({ status }) => status.state !== CallState.ended && !known.has(status.agentUri),
  )
  const ends = lost.map(({ order, status }): LegReport => {
    return { ...status, ...LOST, tenant: call.tenant, order: order + 1, at, commandId }
  })
  return [...reported, ...ends]
}

function endOfUnreportedDial({ tenant, callId, dialled, isAbandoned }: Call, at: string): readonly LegReport[] {
  if (dialled === null || isAbandoned) return []
  const { destination, ...command } = dialled
  return [
    {
      ...command,
      ...LOST,
      tenant,
      callId,
      order: 0,
      at,
      direction: Direction.outbound,
      role: LegRole.originator,
      internal: false,
      remoteParty: { ...remotePartyOf({ kind: 'outside', address: destination }), type: PartyType.unknown },
      device: null,
      transfer: null,
      consultation: null,
    },
  ]
}

const LOST = {
  state: CallState.ended,
  remoteHeld: false,
  ending: { endReason: EndReason.platformLost, endedBy: EndedBy.system, cause: null, sipCode: null },
  failedCommand: null,
}
