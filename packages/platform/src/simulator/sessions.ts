import { type CallId, isNotExecuted } from '@switchhook/contracts'
import { LRUCache } from 'lru-cache'
import { type PlatformListener, PlatformUnavailable } from '../platform.ts'
import type { SimulatorMemory } from './memory.ts'
import { play, rungBy } from './play.ts'
import { type Cue, type DeviceState, isOver, type LaterCue, latestReports, type Session } from './session.ts'

export interface SessionsDeps {
  readonly memory: SimulatorMemory
  readonly deviceOf: (tenant: string | null, agentUri: string) => Promise<DeviceState>
  readonly listener: () => PlatformListener | undefined
  readonly onError: (message: string, error: unknown) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** What the timer of a session carries. */
export interface SessionTimer {
  readonly sessionId: CallId
  readonly cue: Cue
}

export interface Sessions {
  /**
   * Stores a new session and tells of it. One that is there already stays as it is. Rejects as the memory does: then the
   * session may have been stored or not.
   */
  begin(session: Session, later: readonly LaterCue[]): Promise<void>
  /**
   * The same for a command that must not be refused if it may be carried out.
   * @throws PlatformUnavailable when the session has certainly not been stored
   */
  beginIfInDoubt(session: Session, later: readonly LaterCue[]): Promise<void>
  /**
   * Resolves to `true` when the step is stored, or may be, and to `false` if there is no such call. A step that cannot be
   * reported now is reported by its timer.
   * @throws PlatformUnavailable when the step has certainly not been stored
   */
  apply(tenant: string | null, callId: CallId, cue: Cue): Promise<boolean>
  find(tenant: string | null, callId: CallId): Promise<Session | undefined>
}

/** Longer than any call; every change begins it anew. */
const KEPT_MS = 24 * 60 * 60_000
/** What is over is kept for late commands. */
const KEPT_AFTER_MS = 15 * 60_000
/** What nobody has told after so long is told by whoever gets the timer. */
const TELL_AGAIN_MS = 5_000
const TOLD_REMEMBERED = 10_000

interface Loaded {
  readonly session: Session
  readonly version: number
}

/**
 * The sessions in the memory. A step is stored before it is told, and the stored session holds what the step has to tell:
 * whoever loads a session whose last step it has not told itself tells that first. So a process may die anywhere, and no
 * report is lost; one that comes twice, or late, is known by its order.
 */
export function createSessions({ memory, deviceOf, listener, onError, now }: SessionsDeps): Sessions {
  const toldSteps = new LRUCache<CallId, number>({ max: TOLD_REMEMBERED })

  async function load(tenant: string | null, callId: CallId): Promise<Loaded | undefined> {
    const [found] = await memory.read(tenant, [keyOf(callId)])
    const value = found?.value as Session | Alias | undefined
    if (found === undefined || found.version === 0 || value === undefined) return undefined
    return 'alias' in value ? load(tenant, value.alias) : { session: value, version: found.version }
  }

  async function tell(session: Session): Promise<void> {
    if (toldSteps.get(session.sessionId) === session.step) return
    const reports = latestReports(session)
    const told = listener()
    // Nobody listens yet, or any more: it is told when somebody does.
    if (told === undefined) return
    if (reports.length > 0) await told.legs(reports)
    toldSteps.set(session.sessionId, session.step)
  }

  async function store(
    session: Session,
    expectedVersion: number,
    later: readonly LaterCue[],
    known: readonly CallId[],
  ): Promise<'committed' | 'conflict'> {
    const { tenant, sessionId, calls } = session
    const aliases = Object.keys(calls).filter((callId) => callId !== sessionId && !known.includes(callId as CallId))
    const cues: readonly LaterCue[] = [...later, { cue: { kind: 'tell' }, dueInMs: TELL_AGAIN_MS }]
    return memory.write(tenant, {
      records: [
        { key: keyOf(sessionId), expectedVersion, value: session, ttlMs: isOver(session) ? KEPT_AFTER_MS : KEPT_MS },
        ...aliases.map((callId) => ({
          key: keyOf(callId as CallId),
          expectedVersion: 0,
          value: { alias: sessionId } satisfies Alias,
          ttlMs: KEPT_MS,
        })),
      ],
      timers: cues.map(({ cue, dueInMs }) => ({
        id: timerId(sessionId, cue),
        dueInMs,
        payload: { sessionId, cue } satisfies SessionTimer,
      })),
    })
  }

  /** What cannot be told now is told by the timer. */
  async function tellOrLater(session: Session): Promise<void> {
    await tell(session).catch((error: unknown) => onError('a simulated call could not be told, will try again', error))
  }

  /** A write that failed may have happened all the same: then the reports tell. */
  async function inDoubt(session: Session, cause: unknown): Promise<void> {
    const stored = await load(session.tenant, session.sessionId).catch(() => 'unknown' as const)
    if (stored === undefined) throw new PlatformUnavailable('the simulator has no memory to dial with', { cause })
  }

  async function begin(session: Session, later: readonly LaterCue[]): Promise<void> {
    const result = await store(session, 0, later, [])
    if (result === 'committed') await tellOrLater(session)
  }

  return {
    begin,
    beginIfInDoubt: (session, later) => begin(session, later).catch((cause: unknown) => inDoubt(session, cause)),
    async apply(tenant, callId, cue) {
      for (;;) {
        const loaded = await load(tenant, callId).catch((cause: unknown) => {
          throw new PlatformUnavailable('the simulator has no memory to look into', { cause })
        })
        if (loaded === undefined) return false
        const { session, version } = loaded
        await tell(session)
        const rung = rungBy(session, cue)
        const device = rung === undefined ? 'free' : await deviceOf(tenant, rung)
        const at = new Date(now()).toISOString()
        const played = play(session, cue, { at, deviceOf: () => device })
        if (played.session === session) return true
        const known = Object.keys(session.calls) as CallId[]
        const result = await store(played.session, version, played.later, known).catch((error: unknown) => {
          if (isNotExecuted(error)) {
            throw new PlatformUnavailable('the simulator cannot store the step', { cause: error })
          }
          onError('a step of a simulated call may be lost', error)
          return 'in doubt' as const
        })
        if (result === 'conflict') continue
        if (result === 'committed') await tellOrLater(played.session)
        if (isOver(played.session)) toldSteps.delete(session.sessionId)
        return true
      }
    },
    find: async (tenant, callId) => (await load(tenant, callId))?.session,
  }
}

/** Under the id of a consultation: where to look. */
interface Alias {
  readonly alias: CallId
}

/** Key of a call's record in the memory. */
export const keyOf = (callId: CallId): string => `simulated:${callId}`

/** One timer per call and kind of cue: setting it again moves it. */
function timerId(sessionId: CallId, cue: Cue): string {
  const what = [cue.kind, 'callId' in cue ? cue.callId : '', 'action' in cue ? cue.action : '']
  return `simulator:session:${sessionId}:${what.join(':')}`
}
