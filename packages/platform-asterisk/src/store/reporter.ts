import type { CallId, Tenant } from '@switchhook/contracts'
import { type LegReport, markEnds, type Surroundings } from '@switchhook/platform'
import { LRUCache } from 'lru-cache'
import type { PbxSession } from '../session/session.ts'

export interface ReporterDeps extends Pick<Surroundings, 'listener' | 'onError'> {
  readonly find: (tenant: Tenant, callId: CallId) => Promise<PbxSession | undefined>
}

const FIRST_PAUSE_MS = 200
const MAX_PAUSE_MS = 5_000
const LEGS_REMEMBERED = 20_000

export function createReporter({ listener, find, onError }: ReporterDeps) {
  /** The order and time of the report of each leg that this process sent last. A restored storage repeats orders. */
  const reported = new LRUCache<string, string>({ max: LEGS_REMEMBERED })
  const waiting = new Map<CallId, NodeJS.Timeout>()
  let isStopped = false

  const isReported = (leg: LegReport): boolean => reported.get(nameOf(leg)) === changeOf(leg)

  /** Reports every leg, except those that this process has reported and the marked ends. */
  async function send({ group: { legs } }: PbxSession): Promise<void> {
    const to = listener()
    // Without a listener, the session's timer reports it later.
    if (to === undefined) return
    const news = legs.filter((leg) => leg.isEndRecorded !== true && !isReported(leg))
    if (news.length > 0) await to.legs(news)
    for (const leg of news) reported.set(nameOf(leg), changeOf(leg))
  }

  async function attempt(session: PbxSession, pauseMs: number): Promise<void> {
    const { sessionId, tenant } = session.group
    const isSent = await send(session).then(
      () => true,
      (error: unknown) => {
        if (pauseMs === FIRST_PAUSE_MS) onError('a call could not be reported, will try again', error)
        return false
      },
    )
    if (isSent || isStopped || waiting.has(sessionId)) return
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
    send,
    /** The session with a mark at each end that this process has reported. The same object if there is nothing to mark. */
    mark(session: PbxSession): PbxSession {
      const group = markEnds(session.group, isReported)
      return group === session.group ? session : { ...session, group }
    },
    stop(): void {
      isStopped = true
      for (const timer of waiting.values()) clearTimeout(timer)
      waiting.clear()
    },
  }
}

const nameOf = ({ callId, agentUri }: LegReport): string => `${callId} ${agentUri}`
const changeOf = ({ order, at }: LegReport): string => `${order} ${at}`
