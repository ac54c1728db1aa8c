import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type CallId, isNotExecuted, type Tenant } from '@switchhook/contracts'
import {
  busyElsewhere,
  type CallGroup,
  type ConnectedLeg,
  connectedBy,
  PlatformUnavailable,
  type Surroundings,
} from '@switchhook/platform'
import { createKeyedQueue } from '@switchhook/runtime'
import { AriUnavailable } from '../ari/ari-client.ts'
import type { SessionName } from '../ari/channel-mark.ts'
import type { Action } from '../session/action.ts'
import type { Input } from '../session/input.ts'
import { type Join, type Joined, join, joinedBefore } from '../session/join.ts'
import type { PbxSession } from '../session/session.ts'
import { type Stepped, step } from '../session/step.ts'
import { createReporter } from './reporter.ts'
import type { Loaded, SessionStore } from './session-store.ts'

export interface SessionsDeps extends Surroundings {
  readonly store: SessionStore
  readonly carryOut: (session: SessionName, action: Action) => Promise<Input | undefined>
  /** An action of a step failed, or its report, so the session must soon be reported again and compared with Asterisk. */
  readonly onUnsettled: (session: SessionName) => void
  /** A step has connected this leg (`connectedBy`). */
  readonly onConnected: (leg: ConnectedLeg) => void
}

/** A connection that was cut is usually open again by then. */
const READ_WITHIN_MS = 1_000
const READ_AGAIN_MS = 50

/** What is only told to a phone. The parties do not wait for it, and a comparison with Asterisk does not repeat it. */
const TO_PHONES: readonly Action['kind'][] = ['talk', 'transfer-progress']

export type Sessions = ReturnType<typeof createSessions>

/**
 * Runs the steps of the sessions, one at a time per session. A step is stored with compare-and-set, then carried out, and
 * reported last, so that no report is ahead of the requests to Asterisk. A process may die at any point: every action can
 * be repeated, and the stored session shows which ones are due.
 */
export function createSessions(deps: SessionsDeps) {
  const { store, onError, now } = deps
  const queue = createKeyedQueue()
  const find = async (tenant: Tenant, callId: CallId): Promise<PbxSession | undefined> =>
    (await store.load(tenant, callId))?.session
  const reporter = createReporter(deps.listener)

  /**
   * Carries out a step that is stored, and applies the inputs that follow from Asterisk's answers. Never rejects: the step
   * has been accepted.
   */
  async function goOn(stepped: Stepped): Promise<void> {
    const { tenant, sessionId } = stepped.session.group
    const inputs: Input[] = []
    try {
      for (let next: Stepped | undefined = stepped; next !== undefined; ) {
        for (const action of next.actions) {
          const done = deps.carryOut({ tenant, sessionId }, action)
          const input = await (TO_PHONES.includes(action.kind) ? done.catch(report) : done)
          if (input !== undefined) inputs.push(input)
        }
        await reporter.send(next.session).catch((error: unknown) => {
          onError('a call could not be reported, will try again', error)
          deps.onUnsettled({ tenant, sessionId })
        })
        const input = inputs.shift()
        next = input && (await applyOne(tenant, sessionId, input))
      }
    } catch (error) {
      report(error)
      deps.onUnsettled({ tenant, sessionId })
    }
  }

  function report(error: unknown): undefined {
    if (!(error instanceof AriUnavailable)) onError('an action on a call failed', error)
  }

  const loaded = (tenant: Tenant, callId: CallId) => store.load(tenant, callId).catch(unreadable)

  async function applyOne(tenant: Tenant, sessionId: CallId, input: Input): Promise<Stepped | undefined> {
    for (;;) {
      const found = await loaded(tenant, sessionId)
      if (found === undefined) return undefined
      const { session, version } = found
      const busy = await busyElsewhere(session.group, deps.liveCalls).catch(unreadable)
      const stepped = step(session, input, now(), busy)
      if (isDeepStrictEqual(stepped.session, session)) return stepped
      const marked = { ...stepped, session: reporter.mark(stepped.session) }
      try {
        if ((await save(marked, version, session.group.calls)) === 'conflict') continue
      } finally {
        // Without effect if the step is not stored. If it is, although that is not known, the repeated input finds no change.
        for (const leg of connectedBy(input.kind, session.group, stepped.session.group)) deps.onConnected(leg)
      }
      return stepped
    }
  }

  /**
   * Stores a step. If the write gets no answer, the stored session shows whether it was executed: no step may be carried
   * out that is not stored.
   * @throws PlatformUnavailable if the step is certainly not stored; the error of the storage if it may be
   */
  async function save(stepped: Stepped, version: number, known: CallGroup['calls'], absorbed?: Loaded) {
    const { session, later } = stepped
    try {
      return await store.save(session, version, later, known, absorbed)
    } catch (cause) {
      const found = isNotExecuted(cause) ? undefined : await readAfter(cause, session.group)
      if (found === undefined || found.version <= version) {
        throw new PlatformUnavailable('the call cannot be stored', { cause })
      }
      return JSON.stringify(found.session) === JSON.stringify(session) ? 'committed' : 'conflict'
    }
  }

  /** @throws `cause` if the session cannot be read */
  async function readAfter(cause: unknown, { tenant, sessionId }: PbxSession['group']): Promise<Loaded | undefined> {
    for (const endMs = performance.now() + READ_WITHIN_MS; ; await sleep(READ_AGAIN_MS)) {
      try {
        return await store.load(tenant, sessionId)
      } catch {
        if (performance.now() > endMs) throw cause
      }
    }
  }

  return {
    find,
    /**
     * Stores a new session and carries out its first step. An existing session is not changed.
     * @throws as `save`
     */
    async begin(stepped: Stepped): Promise<void> {
      await queue.run(stepped.session.group.sessionId, async () => {
        if ((await save(stepped, 0, {})) === 'committed') await goOn(stepped)
      })
    },
    /**
     * Makes one session of two, and carries out the step. undefined: the two calls cannot be joined, and nothing has changed.
     * @param session the session of the call that is transferred
     * @throws as `apply`
     */
    async join(session: SessionName, other: SessionName, how: Join): Promise<Joined['call'] | undefined> {
      const { tenant, sessionId: callId } = session
      if (tenant !== other.tenant) return undefined
      const sessionId = (await loaded(tenant, callId))?.session.group.sessionId
      if (sessionId === undefined) return undefined
      return queue.run(sessionId, async () => {
        for (;;) {
          const into = await loaded(tenant, sessionId)
          const from: Loaded | undefined = await loaded(tenant, other.sessionId)
          if (into === undefined || from === undefined) return undefined
          if (from.session.group.sessionId === sessionId) {
            const joined = joinedBefore(into.session, how)
            if (joined !== undefined) await goOn(joined)
            return joined?.call
          }
          const joined = join(into.session, from.session, how, now())
          if (joined === undefined) return undefined
          if ((await save(joined, into.version, joined.session.group.calls, from)) === 'conflict') continue
          await goOn(joined)
          return joined.call
        }
      })
    },
    /**
     * Resolves to `true` when the step is stored, and to `false` if there is no such call.
     * @param input a function is called once the session's earlier steps are carried out
     * @throws PlatformUnavailable if the calls cannot be read; otherwise as `save`
     */
    async apply(tenant: Tenant, callId: CallId, input: Input | (() => Promise<Input>)): Promise<boolean> {
      const found = await loaded(tenant, callId)
      if (found === undefined) return false
      const { sessionId } = found.session.group
      return queue.run(sessionId, async () => {
        const stepped = await applyOne(tenant, sessionId, typeof input === 'function' ? await input() : input)
        if (stepped !== undefined) await goOn(stepped)
        return stepped !== undefined
      })
    },
    /** Repeats the reports that were not recorded, and stores which ends are. Rejects if that must be repeated. */
    async report(tenant: Tenant, callId: CallId): Promise<void> {
      const found = await store.load(tenant, callId)
      if (found === undefined) return
      const { session, version } = found
      await queue.run(session.group.sessionId, async () => {
        await reporter.send(session)
        const marked = reporter.mark(session)
        // After a conflict, the timer of the other step comes here.
        if (marked !== session) await store.save(marked, version, [], session.group.calls)
      })
    },
    /** Resolves when no work is in progress. */
    stop: (): Promise<void> => queue.idle(),
  }
}

export function unreadable(cause: unknown): never {
  throw new PlatformUnavailable('the stored calls cannot be read', { cause })
}
