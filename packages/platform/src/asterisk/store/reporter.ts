import type { CallId, Tenant } from '@switchhook/contracts'
import { LRUCache } from 'lru-cache'
import type { Surroundings } from '../../storage.ts'
import type { PbxSession } from '../session/session.ts'

export interface ReporterDeps extends Pick<Surroundings, 'listener' | 'onError'> {
  readonly find: (tenant: Tenant, callId: CallId) => Promise<PbxSession | undefined>
}

const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
const SESSIONS_REMEMBERED = 10_000

export function createReporter({ listener, find, onError }: ReporterDeps) {
  /** The last step of each session that this process has reported. */
  const reported = new LRUCache<CallId, number>({ max: SESSIONS_REMEMBERED })
  const waiting = new Map<CallId, NodeJS.Timeout>()
  let isStopped = false

  async function send({ group }: PbxSession): Promise<boolean> {
    const { sessionId, step, legs } = group
    const known = reported.get(sessionId) ?? 0
    const to = listener()
    // Without a listener, the session's timer reports it later.
    if (to === undefined) return true
    const news = legs.filter(({ order }) => order > known)
    if (news.length > 0) await to.legs(news)
    reported.set(sessionId, Math.max(step, known))
    return true
  }

  async function attempt(session: PbxSession, pauseMs: number): Promise<void> {
    const { sessionId, tenant } = session.group
    const isReported = await send(session).catch((error: unknown) => {
      if (pauseMs === FIRST_PAUSE_MS) onError('a call could not be reported, will try again', error)
      return false
    })
    if (isReported || isStopped || waiting.has(sessionId)) return
    const again = async (): Promise<void> => {
      waiting.delete(sessionId)
      const newest = await find(tenant, sessionId).catch(() => session)
      await attempt(newest ?? session, Math.min(pauseMs * 2, MAX_PAUSE_MS))
    }
    waiting.set(
      sessionId,
      // oxlint-disable-next-line no-restricted-globals -- a pause before a repeat: no answer is awaited
      setTimeout(() => void again(), pauseMs),
    )
  }

  return {
    /** Reports every changed leg. Reports that cannot be stored are repeated with growing pauses. */
    report: (session: PbxSession): Promise<void> => attempt(session, FIRST_PAUSE_MS),
    forget: (sessionId: CallId): void => void reported.delete(sessionId),
    stop(): void {
      isStopped = true
      for (const timer of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}
