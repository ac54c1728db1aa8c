import { applyChannelInput, gone, isLateDial, YOUNG_MS } from './apply-channel-input.ts'
import { PLATFORM_LOST } from './end-reason.ts'
import type { ListedChannel, SessionInput } from './input.ts'
import { catchUpLine } from './open-line.ts'
import type { Channel } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

/** Shorter than the time between two comparisons after a connect. */
const MISSING_FOR_MS = 1_500

/** Catches up on missed events from Asterisk's list of channels. */
export function applyList(
  draft: SessionDraft,
  { channels, hasRestarted }: Extract<SessionInput, { kind: 'listed' }>,
): void {
  const listed = new Map(channels.map((channel) => [channel.id, channel]))
  for (const { id } of draft.liveChannels()) {
    const channel = draft.channel(id)
    if (channel === undefined || channel.state === 'gone') continue
    const found = listed.get(id)
    if (found !== undefined) {
      catchUp(draft, channel, found)
      if (found.isHeldAtPhone === undefined) continue
      applyChannelInput(draft, { kind: found.isHeldAtPhone ? 'phone-holds' : 'phone-resumes', channelId: id })
    } else if (hasRestarted) gone(draft, channel, PLATFORM_LOST)
    else if (draft.atMs - channel.askedAtMs >= YOUNG_MS) missing(draft, channel)
  }
}

/** The event that says why the channel ended may be on its way, so the channel counts as lost only after a while. */
function missing(draft: SessionDraft, channel: Channel): void {
  const missingSinceMs = channel.missingSinceMs ?? draft.atMs
  if (draft.atMs - missingSinceMs >= MISSING_FOR_MS) lost(draft, channel)
  else draft.put({ ...channel, missingSinceMs })
}

/**
 * Asterisk drops a channel that is created while no client is connected. Nobody has been called by then, so the channel is
 * requested again, once, unless the dial is too old.
 */
function lost(draft: SessionDraft, channel: Channel): void {
  const { line, origin, state, isDialled } = channel
  const isRepeated = draft.channels().some((one) => one.line === line && one.state === 'gone')
  const canRepeat = !isRepeated && origin === 'placed' && state === 'asked' && !isDialled && !isLateDial(draft, channel)
  if (canRepeat) draft.put({ ...channel, state: 'gone' })
  else gone(draft, channel, PLATFORM_LOST)
}

function catchUp(draft: SessionDraft, channel: Channel, found: ListedChannel): void {
  const hasCalledUs = channel.origin === 'arrived' || channel.origin === 'line'
  if (hasCalledUs && !found.isMarked) draft.actions.push({ kind: 'claim', channelId: channel.id })
  if (channel.origin === 'line' || channel.origin === 'lent') return catchUpLine(draft, channel, found)
  if (channel.isLeaving)
    return void draft.actions.push({ kind: 'drop', channelId: channel.id, cause: null, elsewhere: false })
  const isWaiting = found.state === 'other'
  // Requests without effect are repeated.
  draft.put({
    ...channel,
    missingSinceMs: null,
    bridge: found.bridge,
    isDialled: channel.isDialled && !isWaiting,
    isRung: channel.isRung && !isWaiting,
    isAnswered: channel.isAnswered && !isWaiting,
  })
  if (found.isReady) applyChannelInput(draft, { kind: 'ready', channelId: channel.id, isUp: found.state === 'up' })
  if (found.state === 'ringing') applyChannelInput(draft, { kind: 'ringing', channelId: channel.id })
  if (found.state === 'up') applyChannelInput(draft, { kind: 'up', channelId: channel.id })
}
