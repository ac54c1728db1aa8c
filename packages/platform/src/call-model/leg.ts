import { isDeepStrictEqual } from 'node:util'
import {
  CallState,
  type CallStatus,
  CommandNumber,
  type CommandResult,
  CommandResultNumber,
  EndedBy,
  EndReason,
  occurredAfter,
} from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'

const { unknown, initiated, proceeding, alerting, connected, held, ended } = CallState

/** One agent's leg as stored: the latest snapshot, and the order of the report that it was made from. */
export interface Leg {
  readonly order: number
  readonly status: CallStatus
}

/**
 * The allowed transitions of a leg. `ended` is final, and every other state may end. Intermediate states may be
 * skipped, because reports may be lost. Any state may follow `unknown`: the link to the platform was lost.
 */
export const NEXT: Readonly<Record<CallState, readonly CallState[]>> = {
  [unknown]: [initiated, proceeding, alerting, connected, held, ended],
  [initiated]: [proceeding, connected, held, ended, unknown],
  [proceeding]: [connected, held, ended, unknown],
  [alerting]: [connected, held, ended, unknown],
  [connected]: [held, ended, unknown],
  [held]: [connected, ended, unknown],
  [ended]: [],
  // Reserved values of CSTA that no platform reports.
  [CallState.queued]: [],
  [CallState.failed]: [],
}

/**
 * The call model: computes a leg's next snapshot from a report, for every platform and every order of reports. Pure.
 * Undefined: the report is a repeat, is out of date, would make a forbidden transition, or says nothing new.
 */
export function applyReport(leg: Leg | undefined, report: LegReport): Leg | undefined {
  if (leg === undefined) return { order: report.order, status: statusAfter(undefined, report) }
  if (report.order <= leg.order) return undefined
  const { status } = leg
  if (report.state !== status.state && !NEXT[status.state].includes(report.state)) return undefined
  if (status.state === ended) return undefined
  const next = statusAfter(status, { ...report, at: occurredAfter(status.occurredAt, report.at) })
  return isNews(status, next) ? { order: report.order, status: next } : undefined
}

/** The next snapshot, from the previous one (undefined: none) and the report. */
function statusAfter(before: CallStatus | undefined, report: LegReport): CallStatus {
  const { state, at, ending } = report
  return {
    // Keeps the fields that a later version, running beside this one, has stored.
    ...before,
    callId: report.callId,
    agentUri: report.agentUri,
    previousState: before?.state ?? unknown,
    sequence: (before?.sequence ?? 0) + 1,
    startedAt: before?.startedAt ?? at,
    state,
    occurredAt: at,
    direction: report.direction,
    internal: report.internal,
    role: report.role,
    remoteParty: report.remoteParty,
    cli: report.cli,
    device: report.device,
    correlationId: report.correlationId,
    commandId: report.commandId,
    held: state === held,
    remoteHeld: report.remoteHeld && state !== ended,
    transfer: report.transfer,
    consultation: report.consultation,
    endReason: ending?.endReason ?? EndReason.none,
    endedBy: ending?.endedBy ?? EndedBy.unknown,
    cause: ending?.cause ?? null,
    sipCode: ending?.sipCode ?? null,
    commandResult: commandResultOf(report),
    ...times(report, before?.answeredAt ?? null),
  }
}

/** The port names commands; enum values in events are numbers. */
function commandResultOf({ failedCommand, doneCommand }: LegReport): CommandResult | null {
  if (failedCommand !== null)
    return { ...failedCommand, command: CommandNumber[failedCommand.command], result: CommandResultNumber.failed }
  if (doneCommand == null) return null
  const { commandId, command } = doneCommand
  return { commandId, command: CommandNumber[command], reason: EndReason.none, result: CommandResultNumber.ok }
}

function times({ state, at }: LegReport, answeredBefore: string | null) {
  const isTalk = state === connected || state === held
  const answeredAt = answeredBefore ?? (isTalk ? at : null)
  if (state !== ended) return { answeredAt, endedAt: null, durationSeconds: null }
  const talkMs = answeredAt === null ? 0 : Date.parse(at) - Date.parse(answeredAt)
  return { answeredAt, endedAt: at, durationSeconds: Math.max(0, Math.round(talkMs / 1_000)) }
}

const IGNORED = { sequence: 0, occurredAt: '', previousState: 0, commandId: null, commandResult: null }

/** A different sequence, time or command id alone makes no event; the result of a command always does. */
function isNews(before: CallStatus, next: CallStatus): boolean {
  return next.commandResult !== null || !isDeepStrictEqual({ ...before, ...IGNORED }, { ...next, ...IGNORED })
}
