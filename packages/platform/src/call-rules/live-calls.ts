import { CallState, type Tenant } from '@switchhook/contracts'
import type { LegReport } from '../platform.ts'
import type { CallGroup } from './call-group.ts'

/** A leg of an agent that has not ended, as stored. */
export type LiveCall = Pick<LegReport, 'callId' | 'state'>

export type LiveCalls = (tenant: Tenant, agentUri: string) => Promise<readonly LiveCall[]>

/** Whether a leg in this state occupies the agent, who can therefore not be connected to a second call. */
export const occupiesAgent = (state: CallState): boolean =>
  state === CallState.connected || state === CallState.initiated || state === CallState.proceeding

/**
 * The agents with a pending transfer in this group who talk or dial in a call of another group. A transferred call that
 * returns to one of them stays on hold.
 */
export async function busyElsewhere(group: CallGroup, liveCalls: LiveCalls): Promise<ReadonlySet<string>> {
  const { tenant, calls } = group
  const busy = new Set<string>()
  for (const { phase, transfer } of Object.values(calls)) {
    if (phase === 'over' || transfer === null) continue
    const others = await liveCalls(tenant, transfer.by)
    const isBusy = others.some(({ callId, state }) => calls[callId] === undefined && occupiesAgent(state))
    if (isBusy) busy.add(transfer.by)
  }
  return busy
}
