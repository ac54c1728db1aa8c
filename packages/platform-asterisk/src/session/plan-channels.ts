import { type CallId, CallState } from '@switchhook/contracts'
import { type Call, isAgent, otherParty, type Party } from '@switchhook/platform'
import { getOrCreate } from '@switchhook/runtime'
import { type Channel, lineOf, newChannel } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

interface Need {
  readonly party: Party
  readonly call: Call
  readonly bridge: { readonly id: string; readonly waits: boolean } | null
}

/** The Q.850 cause for a caller whose call ended unanswered, if the legs have none that the caller can use. */
const NO_ANSWER = 19
/** In SIP 302 without the new address, and 500, after which carriers try again. */
const NOT_PASSED_ON = [23, 127]

/**
 * Compares the channels and bridges that the calls need with those requested from Asterisk, and requests the difference.
 * The same comparison follows every change of a call and repairs every loss in Asterisk.
 */
export function planChannels(draft: SessionDraft): void {
  const needs = needsOf(draft)
  for (const need of needs.values()) if (draft.channelOf(lineOf(need.party)) === undefined) place(draft, need)
  for (const need of needs.values()) serveCaller(draft, need)
  for (const channel of draft.liveChannels()) {
    if (channel.origin !== 'line' && !channel.isLeaving && !needs.has(channel.line)) drop(draft, channel)
  }
  move(draft, needs)
  for (const { party } of needs.values()) dial(draft, draft.channelOf(lineOf(party)))
  dropBridges(draft, needs)
}

function needsOf(draft: SessionDraft): ReadonlyMap<string, Need> {
  const needs = new Map<string, Need>()
  const need = (call: Call, party: Party, bridge: Need['bridge']): void =>
    void needs.set(lineOf(party), { party, call, bridge })
  const calls = draft.everyCall()
  // A consultation comes last: while it lasts, the agent's phone belongs there.
  for (const call of calls.toSorted((a, b) => Number(a.forCallId !== null) - Number(b.forCallId !== null))) {
    if (call.phase === 'over') {
      for (const party of connectedOutside(draft, call)) need(call, party, { id: call.callId, waits: false })
      continue
    }
    const transferred = draft.calls.transferRingingIn(call.callId)
    // The call that is transferred speaks for both parties.
    if (transferred !== undefined && transferred.callId !== call.callId) continue
    for (const party of partiesOf(draft, call)) need(call, party, bridgeFor(draft, call, party))
    const { transfer } = call
    if (transfer !== null && transfer.consultation === null) need(call, transfer.target, null)
  }
  return needs
}

/** A customer who was transferred to an outside party: no agent is left, and both talk until one hangs up. */
function connectedOutside(draft: SessionDraft, { caller, called }: Call): readonly Party[] {
  const parties = [caller, called]
  const isTalk = parties.every((party) => party.kind === 'outside' && draft.channelOf(lineOf(party))?.state === 'up')
  return isTalk ? parties : []
}

function partiesOf(draft: SessionDraft, call: Call): readonly Party[] {
  const { caller, called, phase, callId } = call
  const isIn = (party: Party): boolean =>
    party.kind === 'outside' || draft.calls.leg(callId, party.agentUri) !== undefined
  if (phase === 'talking') return [caller, called].filter(isIn)
  const first = draft.channelOf(lineOf(caller))
  // The called party is called once the caller can hear it.
  const isReady = first?.origin === 'arrived' || (first?.state === 'up' && first.isReady)
  const callers = isIn(caller) ? [caller] : []
  return isReady && (phase === 'seized' || isIn(called)) ? [...callers, called] : callers
}

function bridgeFor(draft: SessionDraft, call: Call, party: Party): Need['bridge'] {
  const { callId, phase, transfer } = call
  const channel = draft.channelOf(lineOf(party))
  if (phase !== 'talking') {
    // Ringback and announcements are heard in the bridge. Agents' phones and callers join once the call is answered.
    const isCallee = lineOf(party) === lineOf(call.called)
    const isCalledByUs = channel !== undefined && channel.origin !== 'arrived'
    const joinsEarly = isCalledByUs && (party.kind === 'outside' || (!isCallee && channel.state === 'up'))
    return joinsEarly ? { id: callId, waits: false } : null
  }
  // While the call is on hold, the agent's line serves other calls, unless the agent has pressed hold in this one.
  const isHeldHere = channel?.isHeldAtPhone === true && !channel.isFree
  if (channel?.origin === 'lent' && !isHeldHere && draft.isHeldBy(callId, party)) return null
  const isTransferred = transfer !== null && !isAgent(party, transfer.by)
  const waits = isTransferred || draft.isHeldBy(callId, otherOf(call, party))
  return waits ? { id: holdingBridgeOf(callId), waits } : { id: callId, waits }
}

/** In which the call's parties wait on music. */
const holdingBridgeOf = (callId: CallId): string => `${callId}-h`

const otherOf = ({ caller, called }: Call, party: Party): Party => (lineOf(caller) === lineOf(party) ? called : caller)

function place(draft: SessionDraft, { party, call }: Need): void {
  const line = lineOf(party)
  const { id } = draft.put(newChannel({ id: draft.newName(), line, origin: 'placed', askedAtMs: draft.atMs }))
  const create = { kind: 'create', channelId: id, party, originator: null, autoAnswer: false } as const
  if (party.kind === 'agent') {
    const isCaller = lineOf(call.caller) === line && call.phase === 'seized'
    const isAnswering = draft.pendingAnswers.some(({ agentUri, how }) => agentUri === line && how === 'again')
    const isTarget = call.transfer !== null && lineOf(call.transfer.target) === line
    const shows = isTarget && call.transfer !== null ? otherParty(call, call.transfer.by) : otherOf(call, party)
    draft.actions.push({ ...create, shows, autoAnswer: isCaller || isAnswering })
  } else {
    const originator = draft.channelOf(lineOf(otherOf(call, party)))?.id ?? null
    draft.actions.push({ ...create, shows: { kind: 'cli', cli: call.cli }, originator })
  }
}

/** An arrived caller hears ringback while the call rings, and is answered when it is. */
function serveCaller(draft: SessionDraft, { party, call, bridge }: Need): void {
  const channel = draft.channelOf(lineOf(party))
  if (channel?.origin !== 'arrived') return
  if (bridge !== null) {
    if (channel.state === 'up' || channel.isAnswered) return
    draft.put({ ...channel, isAnswered: true })
    draft.actions.push({ kind: 'answer', channelId: channel.id })
  } else if (call.phase === 'ringing' && !channel.isRung) {
    draft.put({ ...channel, isRung: true })
    draft.actions.push({ kind: 'ring', channelId: channel.id })
  }
}

/** Ends a channel that no call needs any more. */
export function drop(draft: SessionDraft, channel: Channel, elsewhere = false): void {
  if (channel.origin === 'lent') return giveBack(draft, channel)
  draft.put({ ...channel, isLeaving: true })
  const isUnansweredCaller = channel.origin === 'arrived' && channel.state !== 'up' && !channel.isAnswered
  const cause = isUnansweredCaller ? causeFor(draft, channel) : null
  draft.actions.push({ kind: 'drop', channelId: channel.id, cause, elsewhere })
}

/** The call does not need the agent's line any more. The line stays open. */
function giveBack(draft: SessionDraft, channel: Channel): void {
  const { id, bridge } = channel
  if (bridge === null) return void draft.put({ ...channel, state: 'gone' })
  draft.put({ ...channel, isLeaving: true })
  draft.actions.push({ kind: 'leave', channelId: id, bridge })
}

/** The cause for an unanswered caller, taken from the agent's leg. */
function causeFor(draft: SessionDraft, { line }: Channel): number {
  const call = draft.everyCall().find(({ caller }) => lineOf(caller) === line)
  const legs = draft.calls
    .finish()
    .group.legs.filter(({ callId, state }) => callId === call?.callId && state === CallState.ended)
  const causes = legs.flatMap(({ ending }) => ending?.cause ?? [])
  return causes.find((cause) => !NOT_PASSED_ON.includes(cause)) ?? NO_ANSWER
}

function move(draft: SessionDraft, needs: ReadonlyMap<string, Need>): void {
  const moves = new Map<string, { readonly waits: boolean; readonly channelIds: string[] }>()
  for (const { party, bridge } of needs.values()) {
    const channel = draft.channelOf(lineOf(party))
    if (channel?.origin === 'lent' && bridge === null) leave(draft, channel)
    if (bridge === null || channel === undefined || !channel.isReady) continue
    if (channel.bridge === bridge.id && !channel.isFree) continue
    getOrCreate(moves, bridge.id, () => ({ waits: bridge.waits, channelIds: [] })).channelIds.push(channel.id)
    draft.put({ ...channel, bridge: bridge.id, isFree: false })
  }
  for (const [bridge, { waits, channelIds }] of moves) {
    if (!draft.bridges.includes(bridge)) draft.bridges = [...draft.bridges, bridge]
    draft.actions.push({ kind: 'move', channelIds, bridge, waits })
  }
}

/** A line's channel waits for its call outside every bridge. */
function leave(draft: SessionDraft, channel: Channel): void {
  if (channel.bridge !== null) draft.actions.push({ kind: 'leave', channelId: channel.id, bridge: channel.bridge })
  draft.put({ ...channel, bridge: null, isFree: true })
}

/** A created channel is dialled once it is in our application, and in the bridge if its ringback is heard there. */
function dial(draft: SessionDraft, channel: Channel | undefined): void {
  if (channel === undefined || channel.origin !== 'placed' || channel.state !== 'asked') return
  if (!channel.isReady || channel.isDialled) return
  draft.put({ ...channel, isDialled: true })
  draft.actions.push({ kind: 'dial', channelId: channel.id })
}

/**
 * Asterisk keeps empty bridges, so they are deleted explicitly, once their call is over: Asterisk refuses for a while to
 * create a bridge again under the id of a deleted one.
 */
function dropBridges(draft: SessionDraft, needs: ReadonlyMap<string, Need>): void {
  const kept = new Set(draft.liveCalls().flatMap(({ callId }) => [callId, holdingBridgeOf(callId)]))
  const isUsed = (id: string): boolean =>
    kept.has(id) ||
    [...needs.values()].some(({ bridge }) => bridge?.id === id) ||
    draft.liveChannels().some(({ bridge, isLeaving }) => bridge === id && !isLeaving)
  for (const bridge of draft.bridges.filter((id) => !isUsed(id))) draft.actions.push({ kind: 'drop-bridge', bridge })
  draft.bridges = draft.bridges.filter(isUsed)
}
