import { type CallId, CallState, type Tenant, TransferStatus } from '@switchhook/contracts'
import { createKeyedQueue } from '@switchhook/runtime'
import type { AgentStep, CallGroup } from '../call-rules/call-group.ts'
import type { LiveCalls } from '../call-rules/live-calls.ts'
import type { LegReport, Platform } from '../platform.ts'

export type ConnectedLeg = ReturnType<typeof connectedBy>[number]

/**
 * The legs that a step has connected. Without a call that the phone has resumed: it decides itself which calls it connects.
 * @param kind of the step
 */
export function connectedBy(kind: string, before: CallGroup, after: CallGroup) {
  if (kind === 'phone-resumes') return []
  const wasConnected = new Set(before.legs.filter(isConnected).map(nameOf))
  return after.legs
    .filter((leg) => isConnected(leg) && !wasConnected.has(nameOf(leg)))
    .map(({ tenant, callId, agentUri }) => {
      /** The call has come back from a transfer, without a command of the agent. */
      const hasReturned = kind !== 'resume' && before.calls[callId]?.transfer?.by === agentUri
      return { tenant, callId, agentUri, hasReturned }
    })
}

const isConnected = ({ state }: LegReport): boolean => state === CallState.connected
const nameOf = ({ callId, agentUri }: LegReport): string => `${callId} ${agentUri}`

/** Longer than two processes can overlook each other, and than their clocks differ without a warning. */
const SAME_MOMENT_MS = 1_000

/**
 * Keeps an agent from talking in two calls. A step sees one call only, and two commands can come together, or a phone
 * answers seconds after its command, so another call may be connected by then. A call that has returned is then held; an
 * answered one holds the others.
 */
export function createOneTalk({
  legsOf,
  apply,
  liveCalls,
}: {
  /** From the stored call, because its reports may not have arrived yet. */
  readonly legsOf: Platform['lookUp']
  readonly apply: (tenant: Tenant, callId: CallId, step: AgentStep & { readonly kind: 'hold' }) => Promise<unknown>
  readonly liveCalls: LiveCalls
}): (leg: ConnectedLeg) => Promise<void> {
  /** One leg of an agent after the other, so that two calls never hold each other. */
  const queue = createKeyedQueue()

  async function connectedLeg(tenant: Tenant, callId: CallId, agentUri: string): Promise<LegReport | undefined> {
    const legs = await legsOf(tenant, callId)
    return legs.find((leg) => leg.agentUri === agentUri && isConnected(leg))
  }

  return ({ tenant, callId, agentUri, hasReturned }) =>
    queue.run(JSON.stringify([tenant, agentUri]), async () => {
      const others: LegReport[] = []
      for (const other of await liveCalls(tenant, agentUri)) {
        const leg = other.callId === callId ? undefined : await connectedLeg(tenant, other.callId, agentUri)
        if (leg !== undefined) others.push(leg)
      }
      const own = others.length > 0 && (await connectedLeg(tenant, callId, agentUri))
      if (!own) return
      const isHeld = hasReturned || others.some((other) => outlasts(other, own))
      for (const held of isHeld ? [callId] : others.map((other) => other.callId)) {
        await apply(tenant, held, { kind: 'hold', callId: held, agentUri, commandId: null })
      }
    })
}

/**
 * Of two calls that were connected at the same time, which one stays. The same in every process, so that two of them do
 * not hold each other's call. A call that has returned from a transfer does not stay.
 */
function outlasts(other: LegReport, own: LegReport): boolean {
  const laterMs = Date.parse(other.at) - Date.parse(own.at)
  if (Math.abs(laterMs) >= SAME_MOMENT_MS) return false
  if (hasFailedTransfer(other) !== hasFailedTransfer(own)) return hasFailedTransfer(own)
  return laterMs === 0 ? other.callId > own.callId : laterMs > 0
}

const hasFailedTransfer = ({ transfer }: LegReport): boolean => transfer?.status === TransferStatus.failed
