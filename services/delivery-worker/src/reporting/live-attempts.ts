import { type Attempt, type Delivery, type Envelope, subjectOf } from '@switchhook/contracts'
import type { DeliveryState, LiveAttempt, LiveAttemptStore } from '@switchhook/store'
import type { Decision } from '../policy/decide.ts'
import type { DeliveryListener } from './listener.ts'

export interface LiveReportsDeps {
  readonly publish: LiveAttemptStore['publish']
  readonly log: { debug(message: string, fields: Readonly<Record<string, unknown>>): void }
}

export interface LiveReports {
  readonly listener: Pick<Required<DeliveryListener>, 'concluded'>
  /** Called with each look: whether somebody reads the tenant's live stream. */
  readonly noteListened: (tenant: string | null, isListened: boolean) => void
  /** Publishes what was gathered so far. */
  readonly flush: () => Promise<void>
}

interface Gathered {
  readonly attempts: LiveAttempt[]
  left: number
}

/** How long attempts are gathered for one write. */
const GATHER_MS = 100
/** Of one tenant in that time. The rest is left out and counted. */
const MOST_GATHERED = 200

/**
 * Reports attempts to the live stream of each tenant that somebody reads. Every look of a delivery tells whether that is so;
 * for the others this costs one lookup in an empty set per attempt. Reports that cannot be written are lost.
 */
export function createLiveReports({ publish, log }: LiveReportsDeps): LiveReports {
  const listened = new Set<string | null>()
  let gathered = new Map<string | null, Gathered>()
  let timer: NodeJS.Timeout | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const due = gathered
    gathered = new Map()
    const written = await Promise.allSettled(
      [...due].map(([tenant, { attempts, left }]) => publish(tenant, attempts, left)),
    )
    const failed = written.filter(({ status }) => status === 'rejected').length
    if (failed > 0) log.debug('attempts were not published to the live stream', { tenants: failed })
  }

  return {
    flush,
    noteListened: (tenant, isListened) => {
      if (isListened) listened.add(tenant)
      else listened.delete(tenant)
    },
    listener: {
      concluded: (delivery, attempt, decision) => {
        if (attempt === null || !listened.has(delivery.tenant)) return
        const present = gathered.get(delivery.tenant) ?? { attempts: [], left: 0 }
        gathered.set(delivery.tenant, present)
        if (present.attempts.length < MOST_GATHERED) present.attempts.push(liveAttemptOf(delivery, attempt, decision))
        else present.left += 1
        timer ??= setTimeout(() => void flush(), GATHER_MS)
      },
    },
  }
}

export function liveAttemptOf(delivery: Delivery, made: Attempt, decision: Decision): LiveAttempt {
  const { deliveryId, subscriptionId, eventId, eventType, body } = delivery
  const { attempt, at, outcome, status, durationMs } = made
  const { callId, agentUri } = subjectOf((JSON.parse(body.toString()) as Envelope).data)
  const state = STATES[decision.kind]
  const ids = { deliveryId, subscriptionId, eventId, eventType, callId, agentUri }
  return { ...ids, attempt, at, outcome, status, durationMs, state }
}

const STATES: Readonly<Record<Decision['kind'], DeliveryState>> = {
  acknowledged: 'acknowledged',
  withdrawn: 'withdrawn',
  retry: 'waiting',
  postpone: 'waiting',
  park: 'parked',
}
