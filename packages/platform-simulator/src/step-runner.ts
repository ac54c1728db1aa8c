import { type CallId, isNotExecuted, type Tenant } from '@switchhook/contracts'
import {
  type AdapterStorage,
  aliasesOf,
  busyElsewhere,
  type CallGroup,
  type CallStep,
  type ConnectedLeg,
  connectedBy,
  type DeviceState,
  isOver,
  type KnownRecords,
  type LegReport,
  markEnds,
  PlatformUnavailable,
  readByCall,
  reportsOfLastStep,
  type ScheduledStep,
  type StepResult,
  type StorageChange,
  type Surroundings,
} from '@switchhook/platform'
import { LRUCache } from 'lru-cache'
import { agentToRing, applyStep } from './apply-step.ts'

export interface StepRunnerDeps extends Surroundings {
  readonly storage: AdapterStorage
  readonly deviceOf: (tenant: Tenant, agentUri: string) => Promise<DeviceState>
  /** A step has connected this leg. A rejection is reported to `onError`. */
  readonly onConnected: (leg: ConnectedLeg) => Promise<void>
}

export interface StepTimer {
  readonly sessionId: CallId
  readonly cue: CallStep
}

/** A live call does not expire. */
const KEPT_FOREVER = 0
/** For late commands and for `lookUp`. */
const KEPT_AFTER_END_MS = 15 * 60_000
/** After this time a timer repeats reports that were not delivered to the listener. */
const REPORT_AGAIN_MS = 5_000
const REMEMBERED_STEPS = 10_000

/**
 * Runs steps on the stored call groups. A step is stored first, with its reports and the timers of the steps that it
 * schedules, and is then reported. A process that loads a group reports the last step again unless it has reported it
 * itself. So no report is lost when a process dies; repeated and late reports are recognised by their order.
 */
export function createStepRunner(deps: StepRunnerDeps) {
  const { storage, deviceOf, onConnected, liveCalls, listener, onError, now } = deps
  /** The last step that this process has reported of each call group. */
  const reportedSteps = new LRUCache<CallId, number>({ max: REMEMBERED_STEPS })

  async function load(tenant: Tenant, callId: CallId, known?: KnownRecords) {
    const found = await readByCall(storage, keyOf, tenant, callId, known)
    return found && { group: found.value as CallGroup, version: found.version }
  }

  async function report(group: CallGroup): Promise<void> {
    if (reportedSteps.get(group.sessionId) === group.step) return
    const reports = reportsOfLastStep(group)
    const current = listener()
    // Before start and after stop there is no listener; the timer reports the step later.
    if (current === undefined) return
    if (reports.length > 0) await current.legs(reports)
    reportedSteps.set(group.sessionId, group.step)
  }

  async function store(
    { group, scheduled }: StepResult,
    expectedVersion: number,
    present: CallGroup['calls'],
    known?: KnownRecords,
  ): Promise<'committed' | 'conflict'> {
    const { tenant, sessionId } = group
    const timers: readonly ScheduledStep[] = [...scheduled, { step: { kind: 'tell' }, dueInMs: REPORT_AGAIN_MS }]
    const ttlMs = isOver(group) ? KEPT_AFTER_END_MS : KEPT_FOREVER
    const change = {
      records: [{ key: keyOf(sessionId), expectedVersion, value: group, ttlMs }, ...aliasesOf(group, present, keyOf)],
      timers: timers.map(({ step, dueInMs }) => ({
        id: timerId(sessionId, step),
        dueInMs,
        payload: { sessionId, cue: step } satisfies StepTimer,
      })),
    }
    return storage.write(tenant, change, known)
  }

  const reportNowOrLater = (group: CallGroup): Promise<void> =>
    report(group).catch((error: unknown) => onError('a simulated call could not be reported, will try again', error))

  /** A write that failed may have been executed. Nothing is accepted until the storage says that it was. */
  async function requireStored(group: CallGroup, cause: unknown): Promise<void> {
    const isCertain = isNotExecuted(cause)
    const stored = isCertain ? undefined : await load(group.tenant, group.sessionId).catch(() => Promise.reject(cause))
    if (stored === undefined) throw new PlatformUnavailable('the simulator could not store the call', { cause })
  }

  /**
   * Stores a new call group and reports its legs. If the call exists already, nothing happens. A rejection of the
   * storage leaves open whether it was stored.
   */
  async function begin(begun: StepResult): Promise<void> {
    const result = await store(begun, 0, {})
    if (result === 'committed') await reportNowOrLater(begun.group)
  }

  return {
    begin,
    /**
     * The same for a command: resolves once the call group is stored. Rejects with the error of the storage if it may be.
     * @throws PlatformUnavailable if the call group was certainly not stored
     */
    beginOnce: (begun: StepResult): Promise<void> =>
      begin(begun).catch((cause: unknown) => requireStored(begun.group, cause)),
    /**
     * Applies a step to the group of a call. Resolves to `true` once the step is stored, and to `false` if the call does not
     * exist. Rejects with the error of the storage if the step may be stored; a repeat then finds out. If the step cannot be
     * reported now, its timer reports it later.
     * @param given from the command that is the step
     * @throws PlatformUnavailable if the step was certainly not stored
     */
    async apply(tenant: Tenant, callId: CallId, step: CallStep, given?: KnownRecords): Promise<boolean> {
      // After a conflict, everything is read again.
      for (let known = given; ; known = undefined) {
        const loaded = await load(tenant, callId, known).catch(unreadable)
        if (loaded === undefined) return false
        const { group, version } = loaded
        await report(group)
        const agentUri = agentToRing(group, step)
        const device = agentUri === undefined ? 'free' : await deviceOf(tenant, agentUri)
        const busy = await busyElsewhere(group, liveCalls).catch(unreadable)
        const at = new Date(now()).toISOString()
        const next = applyStep(group, step, { at, device, busyElsewhere: busy })
        if (next.group === group) return true
        const result = await store(next, version, group.calls, known).catch((cause: unknown) => {
          throw isNotExecuted(cause)
            ? new PlatformUnavailable('the simulator could not store the step', { cause })
            : cause
        })
        if (result === 'conflict') continue
        await reportNowOrLater(next.group)
        const connected = connectedBy(step.kind, group, next.group)
        await Promise.all(connected.map(onConnected)).catch((error: unknown) =>
          onError('an agent may be connected to two calls', error),
        )
        if (isOver(next.group)) reportedSteps.delete(group.sessionId)
        return true
      }
    },
    find: async (tenant: Tenant, callId: CallId) => (await load(tenant, callId))?.group,
  }
}

function unreadable(cause: unknown): never {
  throw new PlatformUnavailable('the simulator could not read the call', { cause })
}

export const keyOf = (callId: CallId): string => `simulated:${callId}`

/** One timer per call and kind of step: scheduling a step again moves its timer. */
function timerId(sessionId: CallId, step: CallStep): string {
  const parts = [step.kind, 'callId' in step ? step.callId : '', 'action' in step ? step.action : '']
  return `simulator:session:${sessionId}:${parts.join(':')}`
}

/**
 * The part of a change that an api needs to record the reports in the same write; undefined for a change without reports.
 * The reports are the same objects that the listener gets after the write. The records mark their ends. The timers lack the
 * one that repeats the reports: it is needed only if they are recorded after the write.
 */
export function stepOf({
  records,
  timers,
}: StorageChange): (StorageChange & { readonly reports: readonly LegReport[] }) | undefined {
  const group = records.map(({ value }) => value).find(isCallGroup)
  const reports = group === undefined ? [] : reportsOfLastStep(group)
  if (reports.length === 0) return undefined
  return {
    reports,
    records: records.map((one) =>
      isCallGroup(one.value) ? { ...one, value: markEnds(one.value, (leg) => reports.includes(leg)) } : one,
    ),
    timers: timers.filter(({ payload }) => (payload as Partial<StepTimer>).cue?.kind !== 'tell'),
  }
}

const isCallGroup = (value: unknown): value is CallGroup =>
  typeof value === 'object' && value !== null && 'legs' in value
