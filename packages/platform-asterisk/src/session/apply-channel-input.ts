import { EndReason } from '@switchhook/contracts'
import {
  connect,
  deviceOffline,
  type EndedByParty,
  endCall,
  type HowEnded,
  hangup,
  isAgent,
  refuse,
  ring,
  ringForCustomer,
  stopRinging,
  targetAnswered,
  targetFailed,
} from '@switchhook/platform'
import { howEnded, isByParty, PLATFORM_LOST } from './end-reason.ts'
import type { ChannelInput } from './input.ts'
import { phoneHolds } from './phone-hold.ts'
import { type Channel, isIn, lineOf } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

/** A younger channel may be missing from the list because Asterisk has not created it yet. */
export const YOUNG_MS = 2_000
/** After it, an agent no longer expects the phone to ring: the api has given up a dial by then that was not reported. */
const LATE_DIAL_MS = 45_000
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
      // Without a party, the channel is ended.
      if (isLateDial(draft, channel)) return partyLeft(draft, channel, PLATFORM_LOST)
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

/** Whether the phone of an agent who dials is still to be called, although the dial is old: Asterisk hung, or was away. */
export const isLateDial = (draft: SessionDraft, { line, origin, state, isReady, askedAtMs }: Channel): boolean =>
  origin === 'placed' &&
  state === 'asked' &&
  !isReady &&
  draft.atMs - askedAtMs >= LATE_DIAL_MS &&
  draft.liveCalls().some(({ phase, caller }) => phase === 'seized' && lineOf(caller) === line)

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
