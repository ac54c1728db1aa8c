import { CallState } from '@switchhook/contracts'
import { type LegReport, outsideHolds, type Party } from '@switchhook/platform'
import { type Channel, isIn, lineOf } from './session.ts'
import type { SessionDraft } from './session-draft.ts'

const isOutside = (party: Party, line: string): boolean => party.kind === 'outside' && lineOf(party) === line

/** A party has pressed hold, or resumes. */
export function phoneHolds(draft: SessionDraft, channel: Channel, isHeld: boolean): void {
  if (channel.isHeldAtPhone === isHeld) return
  draft.put({ ...channel, isHeldAtPhone: isHeld })
  if (channel.isFree) return
  const { calls } = draft
  const talks = draft.liveCalls().filter((one) => one.phase === 'talking' && isIn(one, channel.line))
  const waiting = talks.find(({ caller, called }) => [caller, called].some((one) => isOutside(one, channel.line)))
  if (waiting !== undefined) {
    const holder = isOutside(waiting.caller, channel.line) ? waiting.caller : waiting.called
    return outsideHolds(calls, waiting, holder, isHeld)
  }
  // The phone of an agent who transfers a call serves the consultation, if there is one.
  const call = talks.find(({ transfer }) => transfer?.by !== channel.line)
  if (call === undefined) return
  const parties = [call.caller, call.called]
  const holder = parties.find((party) => lineOf(party) === channel.line)
  for (const other of parties.filter((party) => party !== holder)) {
    if (other.kind === 'agent') calls.report(calls.leg(call.callId, other.agentUri), { remoteHeld: isHeld })
  }
  if (holder?.kind !== 'agent') return
  const state = isHeld ? CallState.held : CallState.connected
  const leg = calls.leg(call.callId, holder.agentUri)
  if (leg !== undefined && leg.state !== state) calls.report(leg, { state })
}

/**
 * A call that comes back from a transfer, or is answered, while the agent's phone is on hold: the other party would hear
 * nothing. It is on hold until the agent resumes at the phone.
 */
export function keepHoldsAtPhones(draft: SessionDraft): void {
  const { calls } = draft
  const talks = draft.liveCalls().filter(({ phase, transfer }) => phase === 'talking' && transfer === null)
  for (const { callId } of talks) {
    const isOnHold = ({ agentUri, state }: LegReport): boolean =>
      state === CallState.connected && draft.channelOf(agentUri)?.isHeldAtPhone === true
    for (const { agentUri: holder } of calls.legsOf(callId).filter(isOnHold)) {
      for (const leg of calls.legsOf(callId)) {
        const change = leg.agentUri === holder ? { state: CallState.held } : { remoteHeld: true }
        // The step may report the result of a command, too.
        calls.report(leg, { failedCommand: leg.failedCommand, doneCommand: leg.doneCommand ?? null, ...change })
      }
    }
  }
}
