import { TransferStatus } from '@switchhook/contracts'
import { type Call, Draft, otherParty, reportBegun } from '@switchhook/platform'
import { drop } from './plan-channels.ts'
import { type Channel, isLive, type PbxSession } from './session.ts'
import { SessionDraft } from './session-draft.ts'
import { finishStep, type Stepped } from './step.ts'

/** The two calls of an attended transfer at the phone, by the phone's channels. */
export interface Join {
  /** In the call that is transferred. */
  readonly channelId: string
  /** In the call with the target. */
  readonly otherChannelId: string
}

export interface Joined extends Stepped {
  /** The call that is transferred, and the agent who transfers it. */
  readonly call: Pick<Call, 'callId'> & { readonly agentUri: string }
}

/**
 * Makes one session of two calls of a phone: the call with the target becomes the consultation of the other one, as if
 * a `transfer` command had started it. undefined: the agent does not talk in both, or transfers one already. Pure.
 */
export function join(session: PbxSession, other: PbxSession, join: Join, atMs: number): Joined | undefined {
  const channel = channelIn(session, join.channelId)
  const otherChannel = channelIn(other, join.otherChannelId)
  const agentUri = channel?.line
  if (channel === undefined || agentUri === undefined || otherChannel?.line !== agentUri) return undefined
  const call = talkOf(session, agentUri)
  const consultation = talkOf(other, agentUri)
  if (call === undefined || consultation === undefined) return undefined
  const draft = new SessionDraft(merge(session, other), atMs, { commandId: null })
  draft.actions.push({ kind: 'transfer-progress', channelId: channel.id, state: 'answered' })
  // As in every consultation, the agent has one channel: the one that talks to the target.
  drop(draft, channel)
  consult(draft.calls, call, consultation, agentUri)
  return { ...finishStep(draft), call: { callId: call.callId, agentUri } }
}

/**
 * What to tell the phone about a join that is stored: it is repeated if it was not known whether its step was stored, or the
 * transfer was not completed. undefined: these channels were not joined. Pure.
 */
export function joinedBefore(session: PbxSession, { channelId, otherChannelId }: Join): Joined | undefined {
  const agentUri = session.channels.find(({ id, isLeaving }) => id === channelId && isLeaving)?.line
  const call = Object.values(session.group.calls).find(
    ({ transfer }) => transfer !== null && transfer.by === agentUri && transfer.consultation !== null,
  )
  if (agentUri === undefined || call === undefined || !channelIn(session, otherChannelId)) return undefined
  const actions = [{ kind: 'transfer-progress', channelId, state: 'answered' }] as const
  return { session, actions, later: [], call: { callId: call.callId, agentUri } }
}

const channelIn = ({ channels }: PbxSession, id: string): Channel | undefined =>
  channels.find((one) => one.id === id && isLive(one) && !one.isLeaving)

/** The call in which the agent talks, or has put the other party on hold. */
function talkOf({ group }: PbxSession, agentUri: string): Call | undefined {
  return new Draft(group, { at: '', commandId: null })
    .callsOf(agentUri)
    .find(({ phase, transfer, forCallId }) => phase === 'talking' && transfer === null && forCallId === null)
}

/** Every leg's order stays below that of its next report. */
const merge = (session: PbxSession, other: PbxSession): PbxSession => ({
  ...session,
  group: {
    ...session.group,
    step: Math.max(session.group.step, other.group.step),
    calls: { ...session.group.calls, ...other.group.calls },
    legs: [...session.group.legs, ...other.group.legs],
    commands: [...session.group.commands, ...other.group.commands],
  },
  channels: [...session.channels, ...other.channels],
  bridges: [...session.bridges, ...other.bridges],
  pendingAnswers: [...session.pendingAnswers, ...other.pendingAnswers],
  referrals: [...session.referrals, ...other.referrals],
})

/** Reports both calls as an attended transfer whose target has answered. */
function consult(calls: Draft, call: Call, consultation: Call, agentUri: string): void {
  const target = otherParty(consultation, agentUri)
  const asked = target.kind === 'agent' ? target.agentUri : target.address
  const { callId } = consultation
  const transferred = calls.putCall({
    ...call,
    transfer: { by: agentUri, target, ringsIn: null, consultation: callId, isAbandoned: false },
  })
  calls.putCall({ ...consultation, forCallId: call.callId })
  reportBegun(calls, transferred, asked, TransferStatus.ringing)
  for (const leg of calls.legsOf(callId)) calls.report(leg, { consultation: { forCallId: call.callId } })
}
