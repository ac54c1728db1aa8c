import {
  AppError,
  type CallId,
  CallState,
  type CallStatus,
  callEventIdOf,
  type PlatformEvent,
} from '@switchhook/contracts'
import type { Fact } from '@switchhook/platform'
import type { StateRecord, StateStore } from '@switchhook/store'
import { applyFact, type Call, isLive } from './call-model.ts'

/** Which calls an agent's device is in, so that it is not dialled twice at once. */
interface AgentCalls {
  readonly callIds: readonly CallId[]
}

/**
 * How long a call is remembered that has ended, so that a late command meets 409 and not 404 (at least 5 minutes), or that
 * has not got to the platform. One that lives is kept for as long as it does.
 */
const REMEMBERED_MS = 10 * 60_000
/** A dial that never got to the platform (we died in between) keeps the device for no longer than this. */
const UNSENT_DIAL_MS = 15_000

/** The stored calls: read them, begin one, and record what the platform tells. State and event change in one step. */
export interface CallBook {
  find(tenant: string | null, callId: CallId): Promise<Call | undefined>
  /**
   * Reserves the agent's device for a new call. Resolves to the call as it is stored: one that has got to the platform
   * already stays as it is. @throws AppError agent-device-unavailable
   */
  begin(call: Call, agentUri: string): Promise<Call>
  /** Undoes `begin` for a dial that was certainly not sent. */
  abandon(call: Call, agentUri: string): Promise<void>
  /** Resolves once the fact, and the event that it makes, are stored. A fact that changes nothing is dropped. */
  record(fact: Fact): Promise<void>
}

export function createCallBook(store: StateStore, committed: () => void, now: () => number): CallBook {
  async function find(tenant: string | null, callId: CallId): Promise<Call | undefined> {
    const [record] = await store.read(tenant, [callKey(callId)])
    return record?.value as Call | undefined
  }

  /** Reads a call and an agent, and stores what `change` makes of them; anew for as long as somebody else is faster. */
  async function update(
    { tenant, callId, agentUri }: { tenant: string | null; callId: CallId; agentUri: string },
    change: (call: Call | undefined, agent: AgentCalls) => Promise<Change | undefined> | Change | undefined,
  ): Promise<void> {
    for (;;) {
      const [callRecord, agentRecord] = await store.read(tenant, [callKey(callId), agentKey(agentUri)])
      const agent = (agentRecord?.value as AgentCalls | undefined) ?? { callIds: [] }
      const changed = await change(callRecord?.value as Call | undefined, agent)
      if (changed === undefined) return
      const records = [
        recordOf(callKey(callId), callRecord, changed.call, isLive(changed.call) ? undefined : REMEMBERED_MS),
        recordOf(agentKey(agentUri), agentRecord, changed.agent),
      ]
      if ((await store.commit(tenant, { records, events: changed.events, timers: [] })) === 'committed') {
        if (changed.events.length > 0) committed()
        return
      }
    }
  }

  /** The calls that keep this agent's device busy. */
  async function liveCalls(tenant: string | null, agentUri: string, callIds: readonly CallId[]): Promise<CallId[]> {
    const records = await store.read(tenant, callIds.map(callKey))
    return callIds.filter((_callId, at) => {
      const call = records[at]?.value as Call | undefined
      if (call === undefined) return false
      const leg = call.legs[agentUri]
      return leg === undefined ? now() - Date.parse(call.createdAt) < UNSENT_DIAL_MS : leg.state !== CallState.ended
    })
  }

  return {
    find,
    async begin(call, agentUri) {
      let stored = call
      await update({ tenant: call.tenant, callId: call.callId, agentUri }, async (existing, agent) => {
        if (existing !== undefined && Object.keys(existing.legs).length > 0) {
          stored = existing
          return undefined
        }
        const others = agent.callIds.filter((id) => id !== call.callId)
        const live = await liveCalls(call.tenant, agentUri, others)
        if (live.length > 0) throw new AppError('agent-device-unavailable', { detail: 'The agent is in a call' })
        return { call, agent: { callIds: [call.callId] }, events: [] }
      })
      return stored
    },
    abandon: (call, agentUri) =>
      update({ tenant: call.tenant, callId: call.callId, agentUri }, (existing, agent) => {
        if (existing === undefined || Object.keys(existing.legs).length > 0) return undefined
        return { call: existing, agent: { callIds: agent.callIds.filter((id) => id !== call.callId) }, events: [] }
      }),
    record: (fact) =>
      update(fact, (existing, agent) => {
        const applied = applyFact(existing ?? incomingCall(fact), fact)
        if (applied === undefined) return undefined
        return {
          call: applied.call,
          agent: { callIds: callIdsAfter(agent.callIds, applied.status) },
          events: [eventOf(fact.tenant, applied.status)],
        }
      }),
  }
}

interface Change {
  readonly call: Call
  readonly agent: AgentCalls
  readonly events: readonly PlatformEvent[]
}

const callKey = (callId: CallId): string => `call:${callId}`
const agentKey = (agentUri: string): string => `agent-calls:${agentUri}`

const recordOf = (key: string, read: StateRecord | undefined, value: unknown, ttlMs?: number) => ({
  key,
  expectedVersion: read?.version ?? 0,
  value,
  ...(ttlMs !== undefined && { ttlMs }),
})

/** A call that nobody here has dialled. */
const incomingCall = ({ callId, tenant, at }: Fact): Call => ({
  callId,
  tenant,
  originator: null,
  cli: null,
  correlationId: null,
  dialCommandId: null,
  createdAt: at,
  legs: {},
})

function callIdsAfter(callIds: readonly CallId[], { callId, state }: CallStatus): readonly CallId[] {
  const others = callIds.filter((id) => id !== callId)
  return state === CallState.ended ? others : [...others, callId]
}

const eventOf = (tenant: string | null, status: CallStatus): PlatformEvent => ({
  eventId: callEventIdOf(status.callId, status.agentUri, status.sequence),
  eventType: 'call.status',
  occurredAt: status.occurredAt,
  tenant,
  data: { ...status },
})
