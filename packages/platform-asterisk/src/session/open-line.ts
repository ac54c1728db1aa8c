import { EndReason } from '@switchhook/contracts'
import type { HowEnded } from '@switchhook/platform'
import { partyAnswered, partyLeft, partyRings } from './apply-channel-input.ts'
import type { LineInput, ListedChannel } from './input.ts'
import { drop } from './plan-channels.ts'
import { type Channel, lineOf, newChannel } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

// An agent with `answer: connected` keeps one channel open all day: the line. It has a session of its own, which has no
// calls. A call that needs the agent's phone uses the line's channel, and gives it back.

/** No answer from the user (Q.850). */
const NOT_ANSWERED: HowEnded = { endReason: EndReason.noAnswer, cause: 19, sipCode: null }

export function applyLineInput(draft: SessionDraft, input: LineInput): void {
  if (input.kind === 'line-opens') return opens(draft, input)
  if (input.kind === 'line-lent') return lent(draft, input)
  const channel = draft.channel(input.lineId)
  if (channel?.origin !== 'lent' || channel.state === 'gone') return
  if (input.kind === 'line-returned' && channel.isLeaving) draft.put({ ...channel, state: 'gone' })
  if (input.kind === 'line-overdue' && channel.state === 'ringing') partyLeft(draft, channel, NOT_ANSWERED)
}

/** The newest channel is the line. An older one is one that the phone has lost. */
function opens(draft: SessionDraft, { channelId, agentUri }: Extract<LineInput, { kind: 'line-opens' }>): void {
  closeLine(draft, agentUri, channelId)
  const known = draft.channel(channelId)
  if (known?.state === 'gone') return
  const line = newChannel({ id: channelId, line: agentUri, origin: 'line', askedAtMs: draft.atMs })
  draft.put(known ?? { ...line, isReady: true })
  draft.actions.push({ kind: 'claim', channelId }, { kind: 'answer', channelId })
}

/** Ends the line, except for the channel `kept`. */
export function closeLine(draft: SessionDraft, agentUri: string, kept: string | null = null): void {
  const lines = draft.liveChannels().filter(({ origin, line }) => origin === 'line' && line === agentUri)
  for (const channel of lines) if (channel.id !== kept && !channel.isLeaving) drop(draft, channel)
}

/** The call rings on the line. The agent who dials is heard on it immediately. */
function lent(draft: SessionDraft, input: Extract<LineInput, { kind: 'line-lent' }>): void {
  const asked = draft.channel(input.channelId)
  if (asked === undefined || asked.state === 'gone') return
  draft.put({ ...asked, state: 'gone' })
  if (asked.isLeaving) return
  const { line } = asked
  const isCaller = draft.liveCalls().some(({ caller, phase }) => phase === 'seized' && lineOf(caller) === line)
  const channel = newChannel({ id: input.lineId, line, origin: 'lent', askedAtMs: draft.atMs })
  draft.put({ ...channel, isReady: true, state: isCaller ? 'up' : 'ringing', isHeldAtPhone: input.isHeldAtPhone })
  if (isCaller) return
  partyRings(draft, line)
  draft.later.push({ input: { kind: 'line-overdue', lineId: input.lineId }, dueInMs: input.ringMs })
}

export function answerOnLine(draft: SessionDraft, channel: Channel): void {
  draft.put({ ...channel, state: 'up' })
  partyAnswered(draft, channel.line)
}

/** Catches up on what happened to a line's channel, in the line's session or in that of a call. */
export function catchUpLine(draft: SessionDraft, channel: Channel, found: ListedChannel): void {
  const { id, origin, isLeaving } = channel
  if (origin === 'line') {
    const state = found.state === 'up' ? 'up' : channel.state
    draft.put({ ...channel, state, missingSinceMs: null })
    if (isLeaving) draft.actions.push({ kind: 'drop', channelId: id, cause: null, elsewhere: false })
    else if (state !== 'up') draft.actions.push({ kind: 'answer', channelId: id })
    return
  }
  if (isLeaving) {
    if (found.bridge === null || found.bridge !== channel.bridge) draft.put({ ...channel, state: 'gone' })
    else draft.actions.push({ kind: 'leave', channelId: id, bridge: found.bridge })
    return
  }
  // Another call of the agent may use the line now. It is not taken away from there.
  const isElsewhere = found.bridge !== null && !draft.bridges.includes(found.bridge)
  draft.put({ ...channel, missingSinceMs: null, bridge: isElsewhere ? channel.bridge : found.bridge })
}
