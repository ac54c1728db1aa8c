import { type CallId, CallState, type Tenant } from '@switchhook/contracts'
import type { LiveCalls } from '../live-calls.ts'
import type { ConnectedLeg } from './session/connected-by.ts'
import { createLanes } from './store/lanes.ts'
import type { Sessions } from './store/sessions.ts'

export interface OneTalkDeps {
  readonly sessions: Pick<Sessions, 'apply' | 'find'>
  readonly liveCalls: LiveCalls
}

/**
 * Keeps an agent from talking in two calls. A step sees one call only, and a phone answers seconds after the command that asked
 * for it, so another call may have been connected meanwhile. A call that has returned is then held; a call that was answered
 * holds the others.
 */
export function createOneTalk({ sessions, liveCalls }: OneTalkDeps): (leg: ConnectedLeg) => Promise<void> {
  /** One leg of an agent after the other, so that two calls never hold each other. */
  const lanes = createLanes()

  async function isConnected(tenant: Tenant, callId: CallId, agentUri: string): Promise<boolean> {
    // The stored call, because its reports may not have arrived yet.
    const legs = (await sessions.find(tenant, callId))?.group.legs ?? []
    return legs.some((leg) => leg.callId === callId && leg.agentUri === agentUri && leg.state === CallState.connected)
  }

  return ({ tenant, callId, agentUri, hasReturned }) =>
    lanes.run(JSON.stringify([tenant, agentUri]), async () => {
      const others: CallId[] = []
      for (const other of await liveCalls(tenant, agentUri)) {
        if (other.callId !== callId && (await isConnected(tenant, other.callId, agentUri))) others.push(other.callId)
      }
      if (others.length === 0 || !(await isConnected(tenant, callId, agentUri))) return
      for (const held of hasReturned ? [callId] : others) {
        await sessions.apply(tenant, held, { kind: 'hold', callId: held, agentUri, commandId: null })
      }
    })
}
