import { CallState, EndReason } from '@switchhook/contracts'
import {
  type Call,
  connect,
  deviceOffline,
  type EndedByParty,
  endCall,
  type HowEnded,
  hangup,
  isAgent,
  outsideHolds,
  type Party,
  refuse,
  ring,
  ringForCustomer,
  stopRinging,
  targetAnswered,
  targetFailed,
} from '@switchhook/platform'
import { howEnded, isByParty, PLATFORM_LOST } from './end-reason.ts'
import type { ChannelInput } from './input.ts'
import { type Channel, lineOf } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

/** A younger channel may be missing from the list because Asterisk has not created it yet. */
export const YOUNG_MS = 2_000
/** More than the calls of one session that a phone can be in. */
const LEGS_OF_A_PHONE = 4

/** Applies an event of a channel. A repeated or late event changes nothing. */
export function applyChannelInput(
  draft: SessionDraft,
  input: Exclude<ChannelInput, { kind: 'phone-transfers' }>,
): void {
  const channel = draft.channel(input.channelId)
  if (channel === undefined || channel.state === 'gone') return
  switch (input.kind) {
    case 'ringing':
      return rings(draft, channel)
    case 'ready':
      return update(draft, channel, { isReady: true, ...(input.isUp && { state: 'up' as const }) })
    case 'up':
      return update(draft, channel, { state: 'up' })
    case 'end-asked':
      return void draft.put({ ...channel, endAskedBy: channel.endAskedBy ?? input.by })
    case 'gone':
      return gone(draft, channel, howEnded(channel, input.cause, input.sipCode))
    case 'refused':
      return gone(draft, channel, { endReason: EndReason.deviceUnavailable, cause: 20, sipCode: null })
    case 'phone-holds':
    case 'phone-resumes':
      return phoneHolds(draft, channel, input.kind === 'phone-holds')
  }
}

function rings(draft: SessionDraft, channel: Channel): void {
  if (channel.state !== 'asked' || channel.isLeaving) return
  draft.put({ ...channel, state: 'ringing' })
  partyRings(draft, channel.line)
}

export function partyRings(draft: SessionDraft, line: string): void {
  const { calls } = draft
  const transferred = draft.transferTo(line)
  if (transferred !== undefined) {
    if (transferred.transfer?.ringsIn === null) ringForCustomer(calls, transferred)
    return
  }
  const call = draft.liveCalls().find(({ called, phase }) => phase === 'seized' && lineOf(called) === line)
  if (call !== undefined) ring(calls, call)
}

const isUp = ({ state, isReady }: Channel): boolean => state === 'up' && isReady

/** A party that we called has answered once its channel is up and in our application. */
function update(draft: SessionDraft, before: Channel, change: Partial<Channel>): void {
  const channel = draft.put({ ...before, ...change })
  if (!isUp(before) && isUp(channel) && channel.origin === 'placed' && !channel.isLeaving)
    partyAnswered(draft, channel.line)
}

export function partyAnswered(draft: SessionDraft, line: string): void {
  draft.pendingAnswers = draft.pendingAnswers.filter(({ agentUri }) => agentUri !== line)
  // Asterisk may report the answer without the ringing before it.
  partyRings(draft, line)
  const transferred = draft.transferTo(line)
  if (transferred !== undefined) return targetAnswered(draft.calls, transferred)
  const call = draft.liveCalls().find(({ called, phase }) => phase === 'ringing' && lineOf(called) === line)
  if (call !== undefined) connect(draft.calls, call)
}

export function gone(draft: SessionDraft, channel: Channel, how: HowEnded): void {
  draft.put({ ...channel, state: 'gone' })
  if (channel.isLeaving) return
  draft.pendingAnswers = draft.pendingAnswers.filter(({ agentUri }) => agentUri !== channel.line)
  partyLeft(draft, channel, channel.endAskedBy === 'shutdown' ? PLATFORM_LOST : how)
}

export function partyLeft(draft: SessionDraft, { line, state }: Channel, how: HowEnded): void {
  const transferred = draft.transferTo(line)
  if (transferred !== undefined) {
    const isDeclined = how.endReason === EndReason.rejected || how.endReason === EndReason.busy
    const isLost = how.endReason === EndReason.deviceUnavailable
    stopRinging(draft.calls, transferred, isDeclined ? 'rejected' : isLost ? 'deviceUnavailable' : 'noAnswer')
    targetFailed(draft.calls, transferred, how, endedBy(draft, line, how))
  }
  if (state === 'up') agentLeft(draft, line, how)
  const by = endedBy(draft, line, how)
  for (const call of draft.liveCalls().filter((one) => isIn(one, line))) {
    const now = draft.calls.call(call.callId)
    if (now === undefined || !isIn(now, line)) continue
    const end = now.phase === 'seized' && lineOf(now.called) === line ? refuse : endCall
    end(draft.calls, now, how, by)
  }
}

/** Whether the party of this line is one of the two. An agent who has left a transfer is not: the customer waits alone. */
const isIn = ({ caller, called, transfer }: Call, line: string): boolean =>
  (lineOf(caller) === line || lineOf(called) === line) && !(transfer?.isAbandoned === true && transfer.by === line)

/** An agent's phone has ended: each leg that it served ends as if the agent had hung up, or as if the device were lost. */
function agentLeft(draft: SessionDraft, agentUri: string, how: HowEnded): void {
  if (!isByParty(how)) return deviceOffline(draft.calls, agentUri, how)
  for (let legs = 0; legs < LEGS_OF_A_PHONE; legs += 1) {
    const [call] = draft.calls
      .callsOf(agentUri)
      .toSorted((a, b) => Number(a.forCallId === null) - Number(b.forCallId === null))
    if (call === undefined) return
    hangup(draft.calls, call, agentUri)
  }
}

function endedBy(draft: SessionDraft, line: string, how: HowEnded): EndedByParty {
  if (!isByParty(how)) return 'switch'
  const isAgents = draft.everyCall().some(({ caller, called }) => isAgent(caller, line) || isAgent(called, line))
  return isAgents ? { agentUri: line } : 'outside'
}

const isOutside = (party: Party, line: string): boolean => party.kind === 'outside' && lineOf(party) === line

function phoneHolds(draft: SessionDraft, channel: Channel, isHeld: boolean): void {
  if (channel.isHeldAtPhone === isHeld) return
  draft.put({ ...channel, isHeldAtPhone: isHeld })
  const { calls } = draft
  const talks = draft.liveCalls().filter((one) => one.phase === 'talking' && isIn(one, channel.line))
  const waiting = talks.find(({ caller, called }) => [caller, called].some((one) => isOutside(one, channel.line)))
  if (waiting !== undefined) {
    const holder = isOutside(waiting.caller, channel.line) ? waiting.caller : waiting.called
    return outsideHolds(calls, waiting, holder, isHeld)
  }
  // During a consultation the phone serves that call, not the transferred one.
  const call = talks.find(({ transfer }) => transfer === null) ?? (isHeld ? undefined : talks[0])
  if (call === undefined) return
  const parties = [call.caller, call.called]
  const holder = parties.find((party) => lineOf(party) === channel.line)
  for (const other of parties.filter((party) => party !== holder)) {
    if (other.kind === 'agent') calls.report(calls.leg(call.callId, other.agentUri), { remoteHeld: isHeld })
  }
  if (holder?.kind !== 'agent' || call.transfer !== null) return
  const state = isHeld ? CallState.held : CallState.connected
  const leg = calls.leg(call.callId, holder.agentUri)
  if (leg !== undefined && leg.state !== state) calls.report(leg, { state })
}
