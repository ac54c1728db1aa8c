import type { CallId, CommandId, Tenant } from '@switchhook/contracts'
import {
  beginDial as beginGroup,
  type Call,
  type CallGroup,
  ENDINGS,
  isSameParty,
  newCall,
  type Party,
  refuse,
} from '@switchhook/platform'
import type { LineInput, Refusal } from './input.ts'
import { lineOf, newChannel, newSession } from './session.ts'
import { SessionDraft } from './session-draft.ts'
import { finishStep, type Stepped, step } from './step.ts'

export interface Dial extends Pick<Call, 'callId' | 'caller' | 'called' | 'cli' | 'correlationId'> {
  readonly tenant: Tenant
  /** null: the agent dialled at the phone. */
  readonly commandId: CommandId | null
  readonly refusal: Refusal | null
  /** The phone's own channel, if the agent dialled there. */
  readonly channelId: string | null
  /** The dialplan has answered the channel. */
  readonly isUp?: boolean
}

export function beginDial(dial: Dial, atMs: number): Stepped {
  const { tenant, callId, caller, commandId, channelId } = dial
  const called = named(dial.called, callId)
  // With the agent's own extension, one phone would be both parties.
  const refusal = isSameParty(caller, called) ? 'busy' : dial.refusal
  const { group } = beginGroup({ tenant, callId, caller, called, at: new Date(atMs).toISOString() }, dial)
  const draft = new SessionDraft(newSession(group, 1), atMs, { commandId })
  const call = draft.calls.call(callId)
  if (refusal !== null && call !== undefined) refuse(draft.calls, call, ENDINGS[refusal])
  if (channelId !== null && caller.kind === 'agent') arrive(draft, channelId, caller.agentUri, dial)
  return finishStep(draft)
}

export interface Arrival extends Pick<Dial, 'tenant' | 'callId' | 'called' | 'refusal' | 'isUp'> {
  readonly channelId: string
  /** The caller's number as Asterisk reports it, or `WITHHELD`. */
  readonly from: string
  readonly name?: string
}

/** An outside party calls an agent. The agent's leg begins when the phone rings. */
export function beginArrival(arrival: Arrival, atMs: number): Stepped {
  const { tenant, callId, channelId, from, name, called, refusal } = arrival
  const caller = named({ kind: 'outside', address: from, ...(name !== undefined && { name }) }, callId)
  const group: CallGroup = { tenant, sessionId: callId, step: 0, calls: {}, legs: [], commands: [] }
  const draft = new SessionDraft(newSession(group, 1), atMs, { commandId: null })
  const call = draft.calls.putCall(newCall({ callId, phase: 'seized', caller, called }))
  if (refusal !== null) refuse(draft.calls, call, ENDINGS[refusal])
  arrive(draft, channelId, lineOf(caller), arrival)
  return finishStep(draft)
}

/** An agent opens the line for the first time. The line has this session for as long as it exists. */
export function beginLine(
  line: Pick<CallGroup, 'tenant' | 'sessionId'>,
  opens: Extract<LineInput, { kind: 'line-opens' }>,
  atMs: number,
): Stepped {
  const group: CallGroup = { ...line, step: 0, calls: {}, legs: [], commands: [] }
  return step(newSession(group, 0), opens, atMs)
}

function arrive(draft: SessionDraft, id: string, line: string, { isUp }: Pick<Dial, 'isUp'>): void {
  const channel = newChannel({ id, line, origin: 'arrived', askedAtMs: draft.atMs })
  draft.put({ ...channel, isReady: true, ...(isUp === true && { state: 'up' }) })
  draft.actions.push({ kind: 'claim', channelId: id })
}

const named = (party: Party, callId: CallId): Party =>
  party.kind === 'outside' ? { line: `${callId}-1`, ...party } : party
