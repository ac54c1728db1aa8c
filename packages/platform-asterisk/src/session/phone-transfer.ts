import { CallState, EndReason, type Transfer, TransferStatus } from '@switchhook/contracts'
import { isSameParty } from '@switchhook/platform'
import type { Action } from './action.ts'
import { applyCommand } from './apply-command.ts'
import type { Input } from './input.ts'
import { isLive } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

/** Asterisk leaves a blind transfer at the phone to the adapter, which applies it like the command. */
export function phoneTransfers(draft: SessionDraft, input: Extract<Input, { kind: 'phone-transfers' }>): void {
  const { channelId, target } = input
  const agentUri = draft.channel(channelId)?.line ?? ''
  const call = draft.calls.callsOf(agentUri).find(({ callId }) => {
    const state = draft.calls.leg(callId, agentUri)?.state
    return state === CallState.connected || state === CallState.held
  })
  const pending = call?.transfer
  // The event may come twice.
  if (pending?.by === agentUri && isSameParty(pending.target, target)) {
    if (!draft.referrals.some((one) => one.channelId === channelId)) tell(draft, channelId, 'answered')
    return
  }
  if (call === undefined || pending != null) return tell(draft, channelId, 'declined')
  const { callId } = call
  const transfer = { callId, agentUri, commandId: null, correlationId: null, consultationCallId: null }
  const before = draft.calls.lastTransferOf(callId, agentUri)
  applyCommand(draft, { kind: 'transfer', ...transfer, target })
  const begun = draft.calls.call(callId)?.transfer
  const isRefused = begun == null && draft.calls.lastTransferOf(callId, agentUri) === before
  if (isRefused) return tell(draft, channelId, 'declined')
  draft.referrals = [...draft.referrals, { channelId, callId, agentUri, begunAt: begun?.begunAt }]
}

/** Tells the phones whose transfers have ended. A phone that has hung up is told nothing. */
export function tellPhones(draft: SessionDraft): void {
  draft.referrals = draft.referrals.filter(({ channelId, callId, agentUri, begunAt }) => {
    const channel = draft.channel(channelId)
    if (channel === undefined || !isLive(channel) || channel.isLeaving) return false
    const pending = draft.calls.call(callId)?.transfer
    if (pending?.by === agentUri && pending.begunAt === begunAt) return true
    tell(draft, channelId, outcomeOf(draft.calls.lastTransferOf(callId, agentUri)))
    return false
  })
}

function outcomeOf(transfer: Transfer | null) {
  if (transfer?.status === TransferStatus.completed) return 'answered'
  return transfer?.failReason === EndReason.rejected ? 'declined' : 'unavailable'
}

const tell = (
  draft: SessionDraft,
  channelId: string,
  state: Extract<Action, { kind: 'transfer-progress' }>['state'],
): void => void draft.actions.push({ kind: 'transfer-progress', channelId, state })
