import {
  type CallCommand,
  type CallId,
  CallState,
  type CallStatus,
  type CommandId,
  LegRole,
  type Transfer,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'
import { isSameAddress } from './address.ts'

/** Every command except dial, which creates its leg. */
export type CommandOnLeg = Exclude<CallCommand, 'dial'>

export type CommandCheck =
  | { readonly kind: 'send'; readonly as: CommandOnLeg | 'completeTransfer' }
  /** Accept it without sending: the leg is already in the requested state. */
  | { readonly kind: 'noop' }
  /** Accept it without sending: this commandId was carried out before, and the request is repeated after a crash. */
  | { readonly kind: 'done' }
  | {
      readonly kind: 'refuse'
      readonly code: RefusalCode
      /** Absent: the code says enough. */
      readonly detail?: string
      readonly currentState: CallState
      readonly allowedCommands: readonly CommandOnLeg[]
    }

const OF_CONSULTATION = 'This call is the consultation of a transfer. Complete or cancel the transfer first.'
const TO_OTHER_PARTY = 'The transferTarget is the other party of this call. Name another target.'

type RefusalCode = 'invalid-call-state' | 'transfer-in-progress' | 'remote-answer-unsupported'

const { unknown, initiated, alerting, connected, held, ended, proceeding } = CallState

/** The commands that change something in each state. All others are refused, except those in `ALREADY`. */
const ALLOWED: Readonly<Record<CallState, readonly CommandOnLeg[]>> = {
  [unknown]: ['hangup'],
  [initiated]: ['hangup'],
  [proceeding]: ['hangup'],
  [alerting]: ['answer', 'hangup'],
  [connected]: ['hold', 'transfer', 'hangup'],
  [held]: ['resume', 'transfer', 'hangup'],
  [ended]: [],
  [CallState.queued]: [],
  [CallState.failed]: [],
}

/** The commands that change something on this leg now. The platform may still refuse one. */
export const allowedCommands = (
  leg: Pick<CallStatus, 'state' | 'role' | 'consultation' | 'transfer'>,
): readonly CommandOnLeg[] =>
  ALLOWED[leg.state].filter((command) => command !== 'transfer' || !(isOwnConsultation(leg) || isBeingTransferred(leg)))

const isBeingTransferred = (leg: Pick<CallStatus, 'transfer'>): boolean =>
  pendingTransfer(leg)?.role === TransferRole.transferred

/** The leg of the agent who consults during a transfer. The target's leg of the consultation has another role. */
const isOwnConsultation = ({ role, consultation }: Pick<CallStatus, 'role' | 'consultation'>): boolean =>
  consultation !== null && 'forCallId' in consultation && role !== LegRole.consultant

/** The commands whose result the leg already has: a repeated command must not look like an error. */
const ALREADY: Readonly<Partial<Record<CallState, readonly CommandOnLeg[]>>> = {
  [connected]: ['answer', 'resume'],
  [held]: ['hold'],
  [ended]: ['hangup'],
}

export const hasResult = (state: CallState, command: CommandOnLeg | 'completeTransfer'): boolean =>
  ALREADY[state]?.some((one) => one === command) === true

interface CommandDetails {
  readonly commandId: CommandId
  readonly target?: string
  /** The id that the consultation call gets if this command starts an attended transfer. */
  readonly consultationCallId?: CallId
  /** False: the agent's device cannot be made to answer. Absent: it can. */
  readonly remoteAnswer?: boolean | undefined
}

/**
 * The call state machine's check of a command: decides by the stored snapshot of the leg whether the command is sent to
 * the platform. Pure.
 * @param status undefined: the call was dialled, and the platform has not reported the leg yet
 */
export function checkCommand(
  command: CommandOnLeg,
  status: CallStatus | undefined,
  details: CommandDetails,
): CommandCheck {
  const state = status?.state ?? initiated
  const allowed = (status === undefined ? ALLOWED[state] : allowedCommands(status)).filter(
    (each) => each !== 'answer' || details.remoteAnswer !== false,
  )
  const refuse = (code: RefusalCode, detail?: string): CommandCheck => ({
    kind: 'refuse',
    code,
    ...(detail !== undefined && { detail }),
    currentState: state,
    allowedCommands: allowed,
  })
  if (status?.commandId === details.commandId) return { kind: 'done' }
  if (hasResult(state, command)) return { kind: 'noop' }
  if (!ALLOWED[state].includes(command)) return refuse('invalid-call-state')
  if (command === 'answer' && !allowed.includes(command)) return refuse('remote-answer-unsupported')
  if (command !== 'transfer') return { kind: 'send', as: command }
  if (status !== undefined && isOwnConsultation(status)) return refuse('transfer-in-progress', OF_CONSULTATION)
  const transfer = pendingTransfer(status)
  const consults = status?.consultation != null
  if (transfer !== undefined) return checkSecondTransfer({ ...transfer, consults }, details, refuse)
  return isSameAddress(status?.remoteParty.uri ?? '', details.target ?? '')
    ? refuse('invalid-call-state', TO_OTHER_PARTY)
    : { kind: 'send', as: command }
}

/** A transfer to the same target completes one with a consultation. Without one, the target is called already, and nothing is sent. */
function checkSecondTransfer(
  transfer: Transfer & { readonly consults: boolean },
  details: CommandDetails,
  refuse: (code: RefusalCode) => CommandCheck,
): CommandCheck {
  if (transfer.otherCallId !== null && transfer.otherCallId === details.consultationCallId) return { kind: 'done' }
  const isOwn = transfer.role === TransferRole.transferring
  if (!isOwn || !isSameAddress(transfer.target, details.target ?? '')) return refuse('transfer-in-progress')
  return transfer.consults ? { kind: 'send', as: 'completeTransfer' } : { kind: 'noop' }
}

function pendingTransfer(status: Pick<CallStatus, 'transfer'> | undefined): Transfer | undefined {
  const transfer = status?.transfer ?? undefined
  const isPending = transfer?.status === TransferStatus.started || transfer?.status === TransferStatus.ringing
  return isPending ? transfer : undefined
}
