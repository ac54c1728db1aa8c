import { hash } from 'node:crypto'
import { AppError, type CallId, CallState } from '@switchhook/contracts'
import type { Step, Transact } from '../../state/transact.ts'
import { type Agent, agentKey, agentOf, freshReservations } from './agent.ts'
import { type Call, callKey, callRecord, hasBegun } from './call.ts'
import { PROBE_UNREPORTED_DIAL_MS, probeTimer } from './silent-call-probe.ts'

/** Longer than any call. */
const SAME_DIAL_KEPT_MS = 24 * 60 * 60_000

/** Two dials without an `Idempotency-Key` are the same dial if all of these are equal. */
interface DialLikeness {
  readonly clientId: string
  readonly agentUri: string
  readonly destination: string
  readonly correlationId: string
}

/** `again`: the call of an earlier dial with the same likeness. */
export interface DialBegun {
  readonly call: Call
  readonly again: boolean
}

export interface DialOptions {
  readonly agentUri: string
  /** null: the dial repeats no other. */
  readonly likeness: DialLikeness | null
  /** The request has an `Idempotency-Key`. Such a dial repeats no other, but a dial without a key may repeat it. */
  readonly isKeyed: boolean
}

interface LikeDial {
  readonly callId: CallId
  /** Earlier versions compare it with the clock. */
  readonly at: string
}

/**
 * Stores a call before the platform receives the dial, and reserves the agent's device, in one step. If the call has begun
 * already, as after a crash, it stays unchanged. A dial with the likeness of an earlier one, and without a key, returns the
 * earlier call until its leg at the agent has ended.
 * @throws AppError agent-device-unavailable
 */
export function beginDial(
  transact: Transact,
  findCall: (callId: CallId) => Promise<Call | undefined>,
  call: Call,
  options: DialOptions & { readonly nowMs: number },
): Promise<DialBegun> {
  const { agentUri, likeness, isKeyed, nowMs } = options
  const likenessKey = likeness && dialKey(likeness)
  const keys = [callKey(call.callId), agentKey(agentUri), ...(likenessKey === null ? [] : [likenessKey])]

  return transact(call.tenant, keys, async ([storedCall, storedAgent, storedLike]): Promise<Step<DialBegun>> => {
    const existing = storedCall as Call | undefined
    if (existing !== undefined && hasBegun(existing)) return { result: { call: existing, again: false } }
    const like = await sameDial(storedLike as LikeDial | undefined)
    if (like !== undefined && !isKeyed) return { result: { call: like, again: true } }

    const agent = agentOf(storedAgent, agentUri)
    requireDevice(agent, call.callId, nowMs)
    const thisDial: LikeDial = { callId: call.callId, at: call.createdAt }
    const reserved = [...freshReservations(agent, nowMs), thisDial]
    return {
      result: { call, again: false },
      writing: {
        records: [
          callRecord(call),
          { key: agentKey(agentUri), value: { ...agent, reserved } },
          // Until the agent's leg of the earlier call ends, a dial without a key repeats that call.
          ...(likenessKey === null || like !== undefined
            ? []
            : [{ key: likenessKey, value: thisDial, ttlMs: SAME_DIAL_KEPT_MS }]),
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

function dialKey({ clientId, agentUri, destination, correlationId }: DialLikeness): string {
  const likeness = JSON.stringify([clientId, agentUri, destination, correlationId])
  return `dial:${hash('sha256', likeness, 'hex')}`
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
