import { type CallId, isNotExecuted } from '@switchhook/contracts'
import { LRUCache } from 'lru-cache'
import { type PlatformListener, PlatformUnavailable } from '../platform.ts'
import { agentToRing, applyStep } from './apply-step.ts'
import {
  type CallGroup,
  type DeviceState,
  isOver,
  reportsOfLastStep,
  type ScheduledStep,
  type Step,
} from './call-group.ts'
import type { SimulatorStorage } from './storage.ts'

export interface StepRunnerDeps {
  readonly storage: SimulatorStorage
  readonly deviceOf: (tenant: string | null, agentUri: string) => Promise<DeviceState>
  readonly listener: () => PlatformListener | undefined
  readonly onError: (message: string, error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** The stored payload of a scheduled step's timer. */
export interface StepTimer {
  readonly sessionId: CallId
  readonly cue: Step
}

export interface StepRunner {
  /**
   * Stores a new call group and reports its legs. If the call exists already, nothing happens. A rejection of the
   * storage leaves open whether it was stored.
   */
  begin(group: CallGroup, scheduled: readonly ScheduledStep[]): Promise<void>
  /**
   * The same for a command, which must resolve if it may have been stored.
   * @throws PlatformUnavailable if the call group was certainly not stored
   */
  beginIfInDoubt(group: CallGroup, scheduled: readonly ScheduledStep[]): Promise<void>
  /**
   * Applies a step to the group of a call. Resolves to `true` once the step is stored, or may be, and to `false` if the
   * call does not exist. If the step cannot be reported now, its timer reports it later.
   * @throws PlatformUnavailable if the step was certainly not stored
   */
  apply(tenant: string | null, callId: CallId, step: Step): Promise<boolean>
  find(tenant: string | null, callId: CallId): Promise<CallGroup | undefined>
}

/** Longer than any call; each step starts the time again. */
const KEPT_MS = 24 * 60 * 60_000
/** For late commands and for `lookUp`. */
const KEPT_AFTER_END_MS = 15 * 60_000
/** After this time a timer repeats reports that were not delivered to the listener. */
const REPORT_AGAIN_MS = 5_000
const REMEMBERED_STEPS = 10_000

interface Loaded {
  readonly group: CallGroup
  readonly version: number
}

/**
 * Runs steps on the stored call groups. A step is stored first, with its reports and the timers of the steps that it
 * schedules, and is then reported. A process that loads a group reports the last step again unless it has reported it
 * itself. So no report is lost when a process dies; repeated and late reports are recognised by their order.
 */
export function createStepRunner({ storage, deviceOf, listener, onError, now }: StepRunnerDeps): StepRunner {
  /** The last step that this process has reported of each call group. */
  const reportedSteps = new LRUCache<CallId, number>({ max: REMEMBERED_STEPS })

  async function load(tenant: string | null, callId: CallId): Promise<Loaded | undefined> {
    const [found] = await storage.read(tenant, [keyOf(callId)])
    const value = found?.value as CallGroup | Alias | undefined
    if (found === undefined || found.version === 0 || value === undefined) return undefined
    return 'alias' in value ? load(tenant, value.alias) : { group: value, version: found.version }
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
    group: CallGroup,
    expectedVersion: number,
    scheduled: readonly ScheduledStep[],
    known: readonly CallId[],
  ): Promise<'committed' | 'conflict'> {
    const { tenant, sessionId, calls } = group
    const aliases = Object.keys(calls).filter((callId) => callId !== sessionId && !known.includes(callId as CallId))
    const timers: readonly ScheduledStep[] = [...scheduled, { step: { kind: 'tell' }, dueInMs: REPORT_AGAIN_MS }]
    return storage.write(tenant, {
      records: [
        { key: keyOf(sessionId), expectedVersion, value: group, ttlMs: isOver(group) ? KEPT_AFTER_END_MS : KEPT_MS },
        ...aliases.map((callId) => ({
          key: keyOf(callId as CallId),
          expectedVersion: 0,
          value: { alias: sessionId } satisfies Alias,
          ttlMs: KEPT_MS,
        })),
      ],
      timers: timers.map(({ step, dueInMs }) => ({
        id: timerId(sessionId, step),
        dueInMs,
        payload: { sessionId, cue: step } satisfies StepTimer,
      })),
    })
  }

  async function reportNowOrLater(group: CallGroup): Promise<void> {
    await report(group).catch((error: unknown) =>
      onError('a simulated call could not be reported, will try again', error),
    )
  }

  /** A write that failed may have been executed. If it was, the reports show it. */
  async function requireStored(group: CallGroup, cause: unknown): Promise<void> {
    const stored = await load(group.tenant, group.sessionId).catch(() => 'unknown' as const)
    if (stored === undefined) throw new PlatformUnavailable('the simulator could not store the call', { cause })
  }

  async function begin(group: CallGroup, scheduled: readonly ScheduledStep[]): Promise<void> {
    const result = await store(group, 0, scheduled, [])
    if (result === 'committed') await reportNowOrLater(group)
  }

  return {
    begin,
    beginIfInDoubt: (group, scheduled) =>
      begin(group, scheduled).catch((cause: unknown) => requireStored(group, cause)),
    async apply(tenant, callId, step) {
      for (;;) {
        const loaded = await load(tenant, callId).catch((cause: unknown) => {
          throw new PlatformUnavailable('the simulator could not read the call', { cause })
        })
        if (loaded === undefined) return false
        const { group, version } = loaded
        await report(group)
        const agentUri = agentToRing(group, step)
        const device = agentUri === undefined ? 'free' : await deviceOf(tenant, agentUri)
        const at = new Date(now()).toISOString()
        const next = applyStep(group, step, { at, deviceOf: () => device })
        if (next.group === group) return true
        const known = Object.keys(group.calls) as CallId[]
        const result = await store(next.group, version, next.scheduled, known).catch((error: unknown) => {
          if (isNotExecuted(error)) {
            throw new PlatformUnavailable('the simulator could not store the step', { cause: error })
          }
          onError('a step of a simulated call may be lost', error)
          return 'in doubt' as const
        })
        if (result === 'conflict') continue
        if (result === 'committed') await reportNowOrLater(next.group)
        if (isOver(next.group)) reportedSteps.delete(group.sessionId)
        return true
      }
    },
    find: async (tenant, callId) => (await load(tenant, callId))?.group,
  }
}

/** Stored under the id of each further call of a group. */
interface Alias {
  readonly alias: CallId
}

/** Key of the record of a call group in the storage. */
export const keyOf = (callId: CallId): string => `simulated:${callId}`

/** One timer per call and kind of step: scheduling a step again moves its timer. */
function timerId(sessionId: CallId, step: Step): string {
  const parts = [step.kind, 'callId' in step ? step.callId : '', 'action' in step ? step.action : '']
  return `simulator:session:${sessionId}:${parts.join(':')}`
}
