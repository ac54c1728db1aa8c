import { type LegReport, markEnds, type Surroundings } from '@switchhook/platform'
import { LRUCache } from 'lru-cache'
import type { PbxSession } from '../session/session.ts'

const LEGS_REMEMBERED = 20_000

export function createReporter(listener: Surroundings['listener']) {
  /** The order and time of the report of each leg that this process sent last. A restored storage repeats orders. */
  const reported = new LRUCache<string, string>({ max: LEGS_REMEMBERED })
  const isReported = (leg: LegReport): boolean => reported.get(nameOf(leg)) === changeOf(leg)

  return {
    /** Reports every leg, except those that this process has reported and the marked ends. The session's timer repeats it. */
    async send({ group: { legs } }: PbxSession): Promise<void> {
      const to = listener()
      if (to === undefined) return
      const news = legs.filter((leg) => leg.isEndRecorded !== true && !isReported(leg))
      if (news.length > 0) await to.legs(news)
      for (const leg of news) reported.set(nameOf(leg), changeOf(leg))
    },
    /** The session with a mark at each end that this process has reported. The same object if there is nothing to mark. */
    mark(session: PbxSession): PbxSession {
      const group = markEnds(session.group, isReported)
      return group === session.group ? session : { ...session, group }
    },
  }
}

const nameOf = ({ callId, agentUri }: LegReport): string => `${callId} ${agentUri}`
const changeOf = ({ order, at }: LegReport): string => `${order} ${at}`
