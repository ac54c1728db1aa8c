import { CallState } from '@switchhook/contracts'
import type { LegReport } from './platform.ts'
import type { CallGroup } from './simulator/call-group.ts'

export interface ConnectedLeg extends Pick<LegReport, 'tenant' | 'callId' | 'agentUri'> {
  /** The call has come back from a transfer, without a command of the agent. */
  readonly hasReturned: boolean
}

/**
 * The legs that a step has connected. Without a call that the phone has resumed: it decides itself which calls it connects.
 * @param kind of the step
 */
export function connectedBy(kind: string, before: CallGroup, after: CallGroup): readonly ConnectedLeg[] {
  if (kind === 'phone-resumes') return []
  const wasConnected = new Set(before.legs.filter(isConnected).map(nameOf))
  return after.legs
    .filter((leg) => isConnected(leg) && !wasConnected.has(nameOf(leg)))
    .map(({ tenant, callId, agentUri }) => {
      const hasReturned = kind !== 'resume' && before.calls[callId]?.transfer?.by === agentUri
      return { tenant, callId, agentUri, hasReturned }
    })
}

const isConnected = ({ state }: LegReport): boolean => state === CallState.connected
const nameOf = ({ callId, agentUri }: LegReport): string => `${callId} ${agentUri}`
