import {
  type CallCommand,
  type CallId,
  CallState,
  type CallStatus,
  type CommandId,
  type Transfer,
  TransferRole,
  TransferStatus,
} from '@switchhook/contracts'

/** Every command but dial, which begins a leg and has none to be judged by. */
export type CommandOnLeg = Exclude<CallCommand, 'dial'>

/** What is to be done with a command. */
export type Verdict =
  /** For the platform. */
  | { readonly kind: 'send'; readonly as: CommandOnLeg | 'completeTransfer' }
  /** The leg is already where the command wants it. */
  | { readonly kind: 'noop' }
  /** This very command has been carried out before, and is asked for again after a crash. */
  | { readonly kind: 'done' }
  | {
      readonly kind: 'refuse'
      readonly code: 'invalid-call-state' | 'transfer-in-progress'
      readonly currentState: CallState
      readonly allowedCommands: readonly CommandOnLeg[]
    }

const { unknown, initiated, alerting, connected, held, ended, proceeding } = CallState

/** What makes a difference in each state. A command that is not named is refused, unless `ALREADY` knows better. */
export const ALLOWED: Readonly<Record<CallState, readonly CommandOnLeg[]>> = {
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

/** Where the leg already is what the command wants: a repeated command must not look like an error. */
const ALREADY: Readonly<Partial<Record<CallState, readonly CommandOnLeg[]>>> = {
  [connected]: ['answer', 'resume'],
  [held]: ['hold'],
  [ended]: ['hangup'],
}

/** What tells this command from another of its kind. */
interface Asked {
  readonly commandId: CommandId
  readonly target?: string
  /** What the consultation call would be called, if this transfer began one. */
  readonly consultationCallId?: CallId
}

/**
 * Judges a command by the stored snapshot of its leg: the whole table of what is possible in which state.
 * @param status undefined: dialled, and the platform has not told of the leg yet
 */
export function checkCommand(command: CommandOnLeg, status: CallStatus | undefined, asked: Asked): Verdict {
  const state = status?.state ?? initiated
  if (status?.commandId === asked.commandId) return { kind: 'done' }
  if (ALREADY[state]?.includes(command) === true) return { kind: 'noop' }
  if (!ALLOWED[state].includes(command)) return refusal('invalid-call-state', state)
  const transfer = command === 'transfer' ? transferUnderWay(status) : undefined
  return transfer === undefined ? { kind: 'send', as: command } : judgeSecondTransfer(transfer, state, asked)
}

/** While one transfer is under way: the same target completes it, another has to wait. */
function judgeSecondTransfer(transfer: Transfer, state: CallState, asked: Asked): Verdict {
  if (transfer.otherCallId !== null && transfer.otherCallId === asked.consultationCallId) return { kind: 'done' }
  const isOwn = transfer.role === TransferRole.transferring
  if (!isOwn || !isSameAddress(transfer.target, asked.target ?? '')) return refusal('transfer-in-progress', state)
  return transfer.blind ? { kind: 'noop' } : { kind: 'send', as: 'completeTransfer' }
}

const refusal = (code: 'invalid-call-state' | 'transfer-in-progress', currentState: CallState): Verdict => ({
  kind: 'refuse',
  code,
  currentState,
  allowedCommands: ALLOWED[currentState],
})

/** The transfer that this leg takes part in and that has not come out yet. */
function transferUnderWay(status: CallStatus | undefined): Transfer | undefined {
  const transfer = status?.transfer ?? undefined
  const isUnderWay = transfer?.status === TransferStatus.started || transfer?.status === TransferStatus.ringing
  return isUnderWay ? transfer : undefined
}

/** The same number in another spelling (RFC 3966: scheme and visual separators) is the same address. */
export function isSameAddress(one: string, other: string): boolean {
  return canonical(one) === canonical(other)
}

const canonical = (address: string): string => {
  const number = /^(?:tel:)?(\+?[0-9][0-9().\- ]*)$/i.exec(address.trim())?.[1]
  return number === undefined ? address.trim() : number.replaceAll(/[().\- ]/g, '')
}
