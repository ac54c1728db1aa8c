import { hash } from 'node:crypto'
import { AppError, type CallId, CallState } from '@switchhook/contracts'
import type { Step, Transact } from '../../state/transact.ts'
import { type Agent, agentKey, agentOf, freshReservations } from './agent.ts'
import { type Call, callKey, callRecord, type Dialled, hasBegun } from './call.ts'
import { PROBE_UNREPORTED_DIAL_MS, probeTimer } from './silent-call-probe.ts'

/** Longer than any call. */
const SAME_DIAL_KEPT_MS = 24 * 60 * 60_000

/** The call of a dial command. */
export type DialledCall = Call & { readonly dialled: Dialled }

export interface DialOptions {
  readonly clientId: string
  /** The request has an `Idempotency-Key`. Such a dial repeats no other, but a dial without a key may repeat it. */
  readonly isKeyed: boolean
}

/** The stored dial that an identical later one repeats. */
interface LikeDial {
  readonly callId: CallId
}

/**
 * Stores a call before the platform receives the dial, and reserves the agent's device, in one step. If the call has begun
 * already, as after a crash, it stays unchanged. An identical dial without a key returns the
 * earlier call, with `again`, until its leg at the agent has ended.
 * @throws AppError agent-device-unavailable
 */
export function beginDial(
  transact: Transact,
  findCall: (callId: CallId) => Promise<Call | undefined>,
  call: DialledCall,
  { clientId, isKeyed, nowMs }: DialOptions & { readonly nowMs: number },
) {
  const { agentUri } = call.dialled
  const sameDialKey = sameDialKeyOf(clientId, call.dialled)
  const keys = [callKey(call.callId), agentKey(agentUri), ...(sameDialKey === null ? [] : [sameDialKey])]

  type Begun = Step<{ readonly call: Call; readonly again: boolean }>
  return transact(call.tenant, keys, async ([storedCall, storedAgent, storedLike]): Promise<Begun> => {
    const existing = storedCall as Call | undefined
    if (existing !== undefined && hasBegun(existing)) return { result: { call: existing, again: false } }
    const like = await sameDial(storedLike as LikeDial | undefined)
    if (like !== undefined && !isKeyed) return { result: { call: like, again: true } }

    const agent = agentOf(storedAgent, agentUri)
    requireDevice(agent, call.callId, nowMs)
    const thisDial: LikeDial = { callId: call.callId }
    const reserved = [...freshReservations(agent, nowMs), { ...thisDial, at: call.createdAt }]
    return {
      result: { call, again: false },
      writing: {
        records: [
          callRecord(call),
          { key: agentKey(agentUri), value: { ...agent, reserved } },
          // Until the agent's leg of the earlier call ends, a dial without a key repeats that call.
          ...(sameDialKey === null || like !== undefined
            ? []
            : [{ key: sameDialKey, value: thisDial, ttlMs: SAME_DIAL_KEPT_MS }]),
        ],
        timers: [probeTimer(call.callId, PROBE_UNREPORTED_DIAL_MS)],
      },
    }
  })

  async function sameDial(like: LikeDial | undefined): Promise<Call | undefined> {
    if (like === undefined || like.callId === call.callId) return undefined
    const earlier = await findCall(like.callId)
    if (earlier === undefined || earlier.isAbandoned) return undefined
    // After a transfer the call lives on without this agent.
    const state = earlier.legs[agentUri]?.status.state
    const isUnderWay = state === undefined ? !hasBegun(earlier) : state !== CallState.ended
    return isUnderWay ? earlier : undefined
  }
}

/**
 * Two dials without an `Idempotency-Key` are the same dial if their client, agent, destination and correlation id are
 * equal. null: without a correlation id, a dial repeats no other.
 */
function sameDialKeyOf(clientId: string, { agentUri, destination, correlationId }: Dialled): string | null {
  if (correlationId === null) return null
  const content = JSON.stringify([clientId, agentUri, destination, correlationId])
  return `dial:${hash('sha256', content, 'hex')}`
}

/** A device can start a call if it is online and all its other calls are on hold. */
function requireDevice(agent: Agent, callId: CallId, nowMs: number): void {
  if (!agent.isOnline) throw new AppError('agent-device-unavailable', { detail: "The agent's device is offline." })
  const dialling = freshReservations(agent, nowMs).some((other) => other.callId !== callId)
  const inCall = agent.calls.some((other) => other.callId !== callId && other.state !== CallState.held)
  if (dialling || inCall) {
    throw new AppError('agent-device-unavailable', { detail: 'The agent is in a call that is not on hold.' })
  }
}
