import type { CallId, CommandId, Tenant } from '@switchhook/contracts'
import type { KnownRecords, LegReport, Platform, PlatformListener } from '@switchhook/platform'
import type { DueTimer, StateChange, StateStore } from '@switchhook/store'
import type { Base } from '../../base.ts'
import { RecordChanged, type Step, type Transact } from '../../state/transact.ts'
import { type Agent, agentKey, agentOf, type PresenceSetting, readAgent } from './agent.ts'
import { type AgentChange, type AgentTimerPayload, applyDevice, applyPresence, applyTimer } from './agent-model.ts'
import { beginDial, type DialledCall, type DialOptions } from './begin-dial.ts'
import { type Call, callKey, callRecord, hasBegun, isLive } from './call.ts'
import { agentEvent, keysOf, recordReports } from './record-reports.ts'
import {
  PROBE_SILENT_MS,
  PROBE_UNREPORTED_DIAL_MS,
  probeTimer,
  reportsOfProbe,
  untilProbeMs,
} from './silent-call-probe.ts'

interface CenterDeps extends Pick<Base, 'now'>, Partial<Pick<Base, 'traceOfRequest'>> {
  readonly store: Pick<StateStore, 'read'>
  /** Keys of the platform adapter's own records that a command on this call reads. */
  readonly platformKeys?: (callId: CallId) => readonly string[]
  readonly transact: Transact
  readonly recordWith: RecordWith
  readonly platform: Pick<Platform, 'lookUp'>
}

/** See `createRecordWith`. */
export type RecordWith = ReturnType<typeof createRecordWith>

/**
 * Records reports in one step with records and timers of the platform adapter, all or nothing. `conflict`: a record of the
 * adapter has another version, and nothing was written. Rejects like `StateStore.commit`.
 */
export function createRecordWith(transact: Transact, wrapUpMs: number, now: () => number) {
  return async function recordWith(
    reports: readonly LegReport[],
    own: Pick<StateChange, 'records' | 'timers'> = { records: [], timers: [] },
    known?: KnownRecords,
  ): Promise<'committed' | 'conflict'> {
    const [first] = reports
    if (first === undefined) return 'committed'
    const keys = keysOf(reports)
    const decide = (values: readonly unknown[]): Step<void> => {
      const stored = new Map(keys.map((key, at) => [key, values[at]]))
      const recorded = recordReports(stored, reports, wrapUpMs, now())
      if (recorded === undefined && own.records.length === 0) return { result: undefined }
      const { records = [], events = [], timers = [] } = recorded ?? {}
      const writing = { records, events, timers: [...timers, ...own.timers], traceparent: traceOf(stored) }
      return { result: undefined, writing }
    }
    try {
      await transact(first.tenant, keys, decide, own.records, known)
      return 'committed'
    } catch (error) {
      if (error instanceof RecordChanged) return 'conflict'
      throw error
    }
  }
}

export type Center = ReturnType<typeof createCenter>

/**
 * The stored state of the contact center's calls and agents. Platform reports, presence settings and timers change it,
 * each in one atomic step together with its events. Every method rejects with Unavailable without Redis.
 */
export function createCenter(deps: CenterDeps) {
  const { store, transact, platform, platformKeys = () => [], recordWith, now, traceOfRequest = () => undefined } = deps
  const isoNow = (): string => new Date(now()).toISOString()

  /** Later reports of the call, hours later as well, belong to the trace of this request. */
  function withTrace<Given extends Call>(call: Given): Given {
    const traceparent = traceOfRequest()
    return traceparent === undefined ? call : { ...call, traceparent }
  }

  /** Resolves to the stored calls, in the order of the ids. */
  async function readCalls(tenant: Tenant, callIds: readonly CallId[]): Promise<readonly Call[]> {
    const records = await store.read(tenant, callIds.map(callKey))
    return records.flatMap(({ value }) => (value === undefined ? [] : [value as Call]))
  }

  async function findCall(tenant: Tenant, callId: CallId): Promise<Call | undefined> {
    return (await readCalls(tenant, [callId]))[0]
  }

  const changeAgent = (
    tenant: Tenant,
    agentUri: string,
    change: (agent: Agent) => AgentChange | undefined,
  ): Promise<Agent> =>
    transact(tenant, [agentKey(agentUri)], ([stored]): Step<Agent> => {
      const before = agentOf(stored, agentUri)
      const changed = change(before)
      if (changed === undefined) return { result: before }
      const { agent, status, timers } = changed
      const events = status === null ? [] : [agentEvent(tenant, status)]
      return { result: agent, writing: { records: [{ key: agentKey(agentUri), value: agent }], events, timers } }
    })

  return {
    listener: {
      legs: async (reports) => {
        await recordWith(reports)
      },
      device: async (report) => {
        await changeAgent(report.tenant, report.agentUri, (agent) => applyDevice(agent, report))
      },
    } satisfies PlatformListener,
    findCall,
    readCalls,
    /** Resolves to a new agent if none is stored. */
    readAgent: (tenant: Tenant, agentUri: string): Promise<Agent> => readAgent(store, tenant, agentUri),
    /** Resolves to one agent per URI, in their order; a new agent where none is stored. */
    readAgents: async (tenant: Tenant, agentUris: readonly string[]): Promise<readonly Agent[]> => {
      const records = await store.read(tenant, agentUris.map(agentKey))
      return agentUris.map((agentUri, at) => agentOf(records[at]?.value, agentUri))
    },
    /**
     * Reads, as of one moment, a call, one of its agents, and the adapter's own record of the call. `known` is for the
     * command on this leg, which then reads nothing again.
     */
    readLeg: async (tenant: Tenant, callId: CallId, agentUri: string) => {
      const keys = [callKey(callId), agentKey(agentUri), ...platformKeys(callId)]
      const records = await store.read(tenant, keys)
      const [call, agent] = records
      return {
        call: call?.value as Call | undefined,
        agent: agentOf(agent?.value, agentUri),
        known: new Map(keys.map((key, at) => [key, records[at]])) as KnownRecords,
      }
    },
    beginDial: (call: DialledCall, options: DialOptions) =>
      beginDial(transact, (callId) => findCall(call.tenant, callId), withTrace(call), { ...options, nowMs: now() }),
    /** Stores a consultation call before the platform receives the transfer. A repeat replaces a call that has not begun. */
    beginConsultation: (call: Call): Promise<void> =>
      transact(call.tenant, [callKey(call.callId)], ([existing]) => {
        if (existing !== undefined && hasBegun(existing as Call)) return { result: undefined }
        const timers = [probeTimer(call.callId, PROBE_UNREPORTED_DIAL_MS)]
        return { result: undefined, writing: { records: [callRecord(withTrace(call))], timers } }
      }),
    /** Marks a call that certainly did not reach the platform as abandoned, and frees its device. */
    abandon: (call: Call): Promise<void> => {
      const agentUri = call.dialled?.agentUri ?? ''
      return transact(call.tenant, [callKey(call.callId), agentKey(agentUri)], ([storedCall, storedAgent]) => {
        const existing = storedCall as Call | undefined
        if (existing === undefined || hasBegun(existing)) return { result: undefined }
        const agent = agentOf(storedAgent, agentUri)
        const reserved = agent.reserved.filter(({ callId }) => callId !== call.callId)
        const records = [
          callRecord({ ...existing, isAbandoned: true }),
          { key: agentKey(agentUri), value: { ...agent, reserved } },
        ]
        return { result: undefined, writing: { records } }
      })
    },
    setPresence: (tenant: Tenant, agentUri: string, setting: PresenceSetting): Promise<Agent> =>
      changeAgent(tenant, agentUri, (agent) => applyPresence(agent, setting, isoNow())),
    agentTimerDue: async ({ tenant, payload }: Pick<DueTimer, 'tenant' | 'payload'>): Promise<void> => {
      const timer = payload as AgentTimerPayload
      await changeAgent(tenant, timer.agentUri, (agent) => applyTimer(agent, timer, isoNow()))
    },
    /** Asks the platform about a call that a command did not find there. @throws PlatformUnavailable if it cannot answer */
    probe: async (tenant: Tenant, callId: CallId, commandId: CommandId): Promise<void> => {
      const call = await findCall(tenant, callId)
      // A dial that has not been reported may be on its way to the platform.
      if (call === undefined || !isLive(call)) return
      await recordWith(reportsOfProbe(call, await platform.lookUp(tenant, callId), isoNow(), commandId))
    },
    /** Probes a silent call: asks the platform for its state. @throws PlatformUnavailable if the platform cannot answer */
    probeTimerDue: async ({ tenant, payload }: Pick<DueTimer, 'tenant' | 'payload'>): Promise<void> => {
      const { callId } = payload as { callId: CallId }
      const call = await findCall(tenant, callId)
      if (call === undefined || (hasBegun(call) && !isLive(call))) return
      let waitMs = hasBegun(call) ? untilProbeMs(call, now()) : 0
      if (waitMs === 0) {
        const reported = await platform.lookUp(tenant, callId)
        await recordWith(reportsOfProbe(call, reported, isoNow()))
        const after = await findCall(tenant, callId)
        if (after === undefined || !isLive(after)) return
        waitMs = PROBE_SILENT_MS
      }
      const timers = [probeTimer(callId, waitMs)]
      await transact(tenant, [], () => ({ result: undefined, writing: { records: [], timers } }))
    },
  }
}

/** Reports recorded together belong to one call and its consultations; the first stored trace context is theirs. */
function traceOf(stored: ReadonlyMap<string, unknown>): string | undefined {
  const records = [...stored.values()] as (Partial<Call> | null | undefined)[]
  return records.find((record) => record?.traceparent !== undefined)?.traceparent
}
