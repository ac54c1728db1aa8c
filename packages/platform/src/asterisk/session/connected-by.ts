import { CallState } from '@switchhook/contracts'
import type { LegReport } from '../../platform.ts'
import type { Input } from './input.ts'
import type { PbxSession } from './session.ts'

export interface ConnectedLeg extends Pick<LegReport, 'tenant' | 'callId' | 'agentUri'> {
  /** The call has come back from a transfer, without a command of the agent. */
  readonly hasReturned: boolean
}

/** The legs that a step has connected. Without a call that the phone has resumed: it decides itself which calls it connects. */
export function connectedBy(input: Input, before: PbxSession, { group }: PbxSession): readonly ConnectedLeg[] {
  if (input.kind === 'phone-resumes') return []
  const wasConnected = new Set(before.group.legs.filter(isConnected).map(nameOf))
  return group.legs
    .filter((leg) => isConnected(leg) && !wasConnected.has(nameOf(leg)))
    .map(({ tenant, callId, agentUri }) => {
      const hasReturned = input.kind !== 'resume' && before.group.calls[callId]?.transfer?.by === agentUri
      return { tenant, callId, agentUri, hasReturned }
    })
}

const isConnected = ({ state }: LegReport): boolean => state === CallState.connected
const nameOf = ({ callId, agentUri }: LegReport): string => `${callId} ${agentUri}`
