import { AppError, type CallId, CallState } from '@switchhook/contracts'
import { type Agent, newAgent } from '../agents/agent.ts'
import { agentKey, callKey, type DialLikeness, dialKey } from '../center/keys.ts'
import { auditTimer, callRecord } from '../center/record-reports.ts'
import type { Step, Transact } from '../state/transact.ts'
import { type Call, hasBegun, isLive } from './call.ts'

/** A dial that never got to the platform (we died in between) keeps the device for no longer than this. */
const UNSENT_DIAL_MS = 15_000
/**
 * When the platform is asked after a dial of which nothing was heard. Later than the lease of an Idempotency-Key, so that
 * the same request, come again after a crash, can still send it.
 */
export const AUDIT_UNSENT_MS = 45_000
/** A repeated dial is the same one while its call lives, and at least for so long (DESIGN 6). */
const SAME_DIAL_MS = 60_000
/** Longer than any call. */
const LIKENESS_KEPT_MS = 24 * 60 * 60_000

/** The call that a dial has come to. `again`: an earlier dial of the same likeness has begun it. */
export interface DialBegun {
  readonly call: Call
  readonly again: boolean
}

export interface DialOptions {
  readonly agentUri: string
  /** null: it is like no other. */
  readonly likeness: DialLikeness | null
  /** Did it come with an `Idempotency-Key`? Then it repeats no other; one without a key may repeat it. */
  readonly isKeyed: boolean
}

interface LikeDial {
  readonly callId: CallId
  readonly at: string
}

/**
 * Stores a call before the platform hears of it, and reserves the agent's device, in one step. A call that is begun again
 * after a crash stays as it is. With a likeness, the call of an earlier dial that was alike is answered instead, while
 * it lives or for a minute, unless the request has a key, which says that it is one of its own.
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

    const agent = (storedAgent as Agent | undefined) ?? newAgent(agentUri)
    requireDevice(agent, call.callId, nowMs)
    const reserved = [...agent.reserved.filter((other) => isFresh(other, nowMs)), reservationOf(call)]
    return {
      result: { call, again: false },
      writing: {
        records: [
          callRecord(call),
          { key: agentKey(agentUri), value: { ...agent, reserved } },
          // While the earlier one lives, it stays the one that a dial without a key repeats.
          ...(likenessKey === null || (like !== undefined && isLive(like))
            ? []
            : [
                {
                  key: likenessKey,
                  value: { callId: call.callId, at: call.createdAt } satisfies LikeDial,
                  ttlMs: LIKENESS_KEPT_MS,
                },
              ]),
        ],
        timers: [auditTimer(call.callId, AUDIT_UNSENT_MS)],
      },
    }
  })

  async function sameDial(like: LikeDial | undefined): Promise<Call | undefined> {
    if (like === undefined || like.callId === call.callId) return undefined
    const earlier = await findCall(like.callId)
    if (earlier === undefined || earlier.isAbandoned) return undefined
    return isLive(earlier) || nowMs - Date.parse(like.at) < SAME_DIAL_MS ? earlier : undefined
  }
}

const reservationOf = ({ callId, createdAt }: Call) => ({ callId, at: createdAt })

const isFresh = ({ at }: { readonly at: string }, nowMs: number): boolean => nowMs - Date.parse(at) < UNSENT_DIAL_MS

/** A device can begin a call when it can be reached and all its other calls are on hold. */
function requireDevice(agent: Agent, callId: CallId, nowMs: number): void {
  if (!agent.isOnline) throw new AppError('agent-device-unavailable', { detail: 'The device cannot be reached' })
  const dialling = agent.reserved.some((other) => other.callId !== callId && isFresh(other, nowMs))
  const inCall = agent.calls.some((other) => other.callId !== callId && other.state !== CallState.held)
  if (dialling || inCall) {
    throw new AppError('agent-device-unavailable', { detail: 'The agent is in a call that is not on hold' })
  }
}
