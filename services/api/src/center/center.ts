import type { CallId } from '@switchhook/contracts'
import type { LegReport, Platform, PlatformListener } from '@switchhook/platform'
import type { StateStore } from '@switchhook/store'
import { type Agent, newAgent, type PresenceSetting } from '../agents/agent.ts'
import {
  type AgentChange,
  type AgentTimerPayload,
  applyDevice,
  applyPresence,
  applyTimer,
} from '../agents/agent-model.ts'
import { AUDIT_UNSENT_MS, beginDial, type DialBegun, type DialOptions } from '../calls/begin-dial.ts'
import { type Call, hasBegun, isLive } from '../calls/call.ts'
import { auditCall } from '../calls/silent-call-probe.ts'
import type { Step, Transact } from '../state/transact.ts'
import { agentKey, callKey } from './keys.ts'
import { readAgent } from './read-agent.ts'
import { AUDIT_AFTER_MS, agentEvent, auditTimer, callRecord, keysOf, recordReports } from './record-reports.ts'

/** A timer of this tenant has fallen due. */
interface DueTimer {
  readonly tenant: string | null
  readonly payload: unknown
}

/**
 * What is known of the contact center's calls and agents. Only what the platform reports, what clients set as presence,
 * and timers change it, each in one atomic step together with its events. Rejects with Unavailable without Redis.
 */
export interface Center {
  readonly listener: PlatformListener
  findCall(tenant: string | null, callId: CallId): Promise<Call | undefined>
  /** Those that are remembered, in the order of the ids. */
  readCalls(tenant: string | null, callIds: readonly CallId[]): Promise<readonly Call[]>
  /** As provisioned, if nothing has happened to it yet. */
  readAgent(tenant: string | null, agentUri: string): Promise<Agent>
  /** A call and one of its agents, as they are at one moment. */
  readLeg(tenant: string | null, callId: CallId, agentUri: string): Promise<{ call: Call | undefined; agent: Agent }>
  /** See `beginDial`. */
  beginDial(call: Call, options: DialOptions): Promise<DialBegun>
  /** Stores a consultation call before the platform hears of it. */
  beginConsultation(call: Call): Promise<void>
  /** Undoes the beginning of a call that was certainly not sent. */
  abandon(call: Call): Promise<void>
  setPresence(tenant: string | null, agentUri: string, setting: PresenceSetting): Promise<Agent>
  agentTimerDue(timer: DueTimer): Promise<void>
  /** Asks the platform after a call that has been silent for long. @throws PlatformUnavailable if it cannot tell */
  auditTimerDue(timer: DueTimer): Promise<void>
}

export interface CenterDeps {
  readonly store: Pick<StateStore, 'read'>
  readonly transact: Transact
  readonly platform: Pick<Platform, 'lookUp'>
  /** How long after-call work lasts; 0: there is none. */
  readonly wrapUpMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Of the request that is being handled, if one is. */
  readonly traceOfRequest?: () => string | undefined
}

export function createCenter(deps: CenterDeps): Center {
  const { store, transact, platform, wrapUpMs, now, traceOfRequest = () => undefined } = deps
  const isoNow = (): string => new Date(now()).toISOString()

  /** What the platform will report of it hours later belongs to the request that began it. */
  function ofRequest(call: Call): Call {
    const traceparent = traceOfRequest()
    return traceparent === undefined ? call : { ...call, traceparent }
  }

  async function readCalls(tenant: string | null, callIds: readonly CallId[]): Promise<readonly Call[]> {
    const records = await store.read(tenant, callIds.map(callKey))
    return records.flatMap((record) => (record === undefined ? [] : [record.value as Call]))
  }

  async function findCall(tenant: string | null, callId: CallId): Promise<Call | undefined> {
    return (await readCalls(tenant, [callId]))[0]
  }

  async function record(reports: readonly LegReport[]): Promise<void> {
    const [first] = reports
    if (first === undefined) return
    const keys = keysOf(reports)
    await transact(first.tenant, keys, (values) => {
      const stored = new Map(keys.map((key, at) => [key, values[at]]))
      const writing = recordReports(stored, reports, { wrapUpMs })
      const traceparent = traceOf(stored)
      return { result: undefined, ...(writing && { writing: { ...writing, traceparent } }) }
    })
  }

  const changeAgent = (
    tenant: string | null,
    agentUri: string,
    change: (agent: Agent) => AgentChange | undefined,
  ): Promise<Agent> =>
    transact(tenant, [agentKey(agentUri)], ([stored]): Step<Agent> => {
      const before = (stored as Agent | undefined) ?? newAgent(agentUri)
      const changed = change(before)
      if (changed === undefined) return { result: before }
      const { agent, status, timers } = changed
      const events = status === null ? [] : [agentEvent(tenant, status)]
      return { result: agent, writing: { records: [{ key: agentKey(agentUri), value: agent }], events, timers } }
    })

  return {
    listener: {
      legs: record,
      device: async (report) => {
        await changeAgent(report.tenant, report.agentUri, (agent) => applyDevice(agent, report))
      },
    },
    findCall,
    readCalls,
    readAgent: (tenant, agentUri) => readAgent(store, tenant, agentUri),
    readLeg: async (tenant, callId, agentUri) => {
      const [call, agent] = await store.read(tenant, [callKey(callId), agentKey(agentUri)])
      return {
        call: call?.value as Call | undefined,
        agent: (agent?.value as Agent | undefined) ?? newAgent(agentUri),
      }
    },
    beginDial: (call, options) =>
      beginDial(transact, (callId) => findCall(call.tenant, callId), ofRequest(call), { ...options, nowMs: now() }),
    beginConsultation: (call) =>
      transact(call.tenant, [callKey(call.callId)], ([existing]) => ({
        result: undefined,
        ...(existing === undefined && {
          writing: { records: [callRecord(ofRequest(call))], timers: [auditTimer(call.callId, AUDIT_UNSENT_MS)] },
        }),
      })),
    abandon: (call) => {
      const agentUri = call.dialled?.agentUri ?? ''
      return transact(call.tenant, [callKey(call.callId), agentKey(agentUri)], ([storedCall, storedAgent]) => {
        const existing = storedCall as Call | undefined
        if (existing === undefined || hasBegun(existing)) return { result: undefined }
        const agent = (storedAgent as Agent | undefined) ?? newAgent(agentUri)
        const reserved = agent.reserved.filter(({ callId }) => callId !== call.callId)
        const records = [
          callRecord({ ...existing, isAbandoned: true }),
          { key: agentKey(agentUri), value: { ...agent, reserved } },
        ]
        return { result: undefined, writing: { records } }
      })
    },
    setPresence: (tenant, agentUri, setting) =>
      changeAgent(tenant, agentUri, (agent) => applyPresence(agent, setting, isoNow())),
    agentTimerDue: async ({ tenant, payload }) => {
      const timer = payload as AgentTimerPayload
      await changeAgent(tenant, timer.agentUri, (agent) => applyTimer(agent, timer, isoNow()))
    },
    auditTimerDue: async ({ tenant, payload }) => {
      const { callId } = payload as { callId: CallId }
      const call = await findCall(tenant, callId)
      if (call === undefined || (hasBegun(call) && !isLive(call))) return
      const told = await platform.lookUp(tenant, callId)
      await record(auditCall(call, told, isoNow()))
      const after = await findCall(tenant, callId)
      if (after === undefined || !isLive(after)) return
      await transact(tenant, [], () => ({
        result: undefined,
        writing: { records: [], timers: [auditTimer(callId, AUDIT_AFTER_MS)] },
      }))
    },
  }
}

/** Reports of one moment are of one call and its consultations, if of several: the first that a request began. */
function traceOf(stored: ReadonlyMap<string, unknown>): string | undefined {
  for (const value of stored.values()) {
    const { traceparent } = (value ?? {}) as Partial<Call>
    if (traceparent !== undefined) return traceparent
  }
  return undefined
}
