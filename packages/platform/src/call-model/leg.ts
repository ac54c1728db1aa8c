import { isDeepStrictEqual } from 'node:util'
import {
  CallState,
  type CallStatus,
  CommandNumber,
  type CommandResult,
  EndedBy,
  EndReason,
} from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'

type FailedCommand = NonNullable<LegReport['failedCommand']>

/** One agent's leg as it is stored: the latest snapshot, and how new the report was that it was made of. */
export interface Leg {
  readonly order: number
  readonly status: CallStatus
}

/**
 * Where a leg may go from where it is. Nothing leaves `ended`, a leg may end from everywhere, and steps may be skipped, as
 * reports may be. After `unknown` (the link to the platform was lost) it may turn out to be anywhere.
 */
export const NEXT: Readonly<Record<CallState, readonly CallState[]>> = {
  [CallState.unknown]: [
    CallState.initiated,
    CallState.proceeding,
    CallState.alerting,
    CallState.connected,
    CallState.held,
    CallState.ended,
  ],
  [CallState.initiated]: [
    CallState.proceeding,
    CallState.connected,
    CallState.held,
    CallState.ended,
    CallState.unknown,
  ],
  [CallState.proceeding]: [CallState.connected, CallState.held, CallState.ended, CallState.unknown],
  [CallState.alerting]: [CallState.connected, CallState.held, CallState.ended, CallState.unknown],
  [CallState.connected]: [CallState.held, CallState.ended, CallState.unknown],
  [CallState.held]: [CallState.connected, CallState.ended, CallState.unknown],
  [CallState.ended]: [],
  // Reserved, never reported.
  [CallState.queued]: [],
  [CallState.failed]: [],
}

/**
 * The call model: a leg and a report in, the leg's next snapshot out. Undefined when the report changes nothing: it was
 * told before, it is older than what is known, it cannot be true any more, or it says what is known already. Pure; what
 * comes out of it is the one truth about a leg, whatever platform reports, in whatever order.
 */
export function applyReport(leg: Leg | undefined, report: LegReport): Leg | undefined {
  if (leg === undefined) return { order: report.order, status: firstStatus(report) }
  if (report.order <= leg.order) return undefined
  const { status } = leg
  if (report.state !== status.state && !NEXT[status.state].includes(report.state)) return undefined
  if (status.state === CallState.ended) return undefined
  const next = nextStatus(status, report)
  return tells(status, next) ? { order: report.order, status: next } : undefined
}

function firstStatus(report: LegReport): CallStatus {
  return {
    callId: report.callId,
    agentUri: report.agentUri,
    previousState: CallState.unknown,
    sequence: 1,
    startedAt: report.at,
    ...seen(report),
    ...times(report, null),
  }
}

function nextStatus(before: CallStatus, report: LegReport): CallStatus {
  return {
    ...before,
    previousState: before.state,
    sequence: before.sequence + 1,
    ...seen(report),
    ...times(report, before.answeredAt),
  }
}

/** What a snapshot takes from the report as it is. */
function seen(report: LegReport) {
  const { state, at, commandId, direction, internal, role, remoteParty, cli, device, correlationId, failedCommand } =
    report
  const isOver = state === CallState.ended
  return {
    state,
    occurredAt: at,
    direction,
    internal,
    role,
    remoteParty,
    cli,
    device,
    correlationId,
    commandId,
    held: state === CallState.held,
    remoteHeld: report.remoteHeld && !isOver,
    transfer: report.transfer,
    consultation: report.consultation,
    endReason: report.ending?.endReason ?? EndReason.none,
    endedBy: report.ending?.endedBy ?? EndedBy.unknown,
    cause: report.ending?.cause ?? null,
    sipCode: report.ending?.sipCode ?? null,
    commandResult: failedCommand && commandResultOf(failedCommand),
  }
}

/** Platforms name commands; the event has their numbers. */
const commandResultOf = ({ commandId, command, reason }: FailedCommand): CommandResult => ({
  commandId,
  command: CommandNumber[command],
  reason,
  result: 2,
})

function times({ state, at }: LegReport, answeredBefore: string | null) {
  const isTalk = state === CallState.connected || state === CallState.held
  const answeredAt = answeredBefore ?? (isTalk ? at : null)
  if (state !== CallState.ended) return { answeredAt, endedAt: null, durationSeconds: null }
  const talkMs = answeredAt === null ? 0 : Date.parse(at) - Date.parse(answeredAt)
  return { answeredAt, endedAt: at, durationSeconds: Math.max(0, Math.round(talkMs / 1_000)) }
}

const NO_NEWS = { sequence: 0, occurredAt: '', previousState: 0, commandId: null, commandResult: null }

/** Does a snapshot say anything that the one before it did not? Counting, timing and naming the command is not news. */
function tells(before: CallStatus, next: CallStatus): boolean {
  return next.commandResult !== null || !isDeepStrictEqual({ ...before, ...NO_NEWS }, { ...next, ...NO_NEWS })
}
