import { type Attempt, type Delivery, type Envelope, subjectOf, type Tenant } from '@switchhook/contracts'
import { createBatch, type Logger } from '@switchhook/runtime'
import type { LiveAttempt, LiveAttemptStore } from '@switchhook/store'
import type { Decision } from '../policy/decide.ts'
import type { Concluded } from './observer.ts'

/** Of one tenant in one write. The rest is left out and counted. */
const MAX_OF_TENANT = 200
/** Of all tenants. Bounds the memory: an attempt keeps the body of its delivery until it is written. */
const MAX_GATHERED_BYTES = 4 * 1024 * 1024
/** Of an attempt, without the body. */
const ATTEMPT_BYTES = 1_000

/**
 * Reports attempts to the live stream of each tenant that has listeners. Every read of an endpoint shows whether it has;
 * for the others this costs one lookup in an empty set per attempt. Reports that cannot be written are lost.
 */
export function createLiveAttempts({ publish }: Pick<LiveAttemptStore, 'publish'>, log: Pick<Logger, 'debug'>) {
  const listened = new Set<Tenant>()
  const gathered = createBatch({
    maxWeight: MAX_GATHERED_BYTES,
    weightOf: ([{ body }]: Parameters<typeof liveAttemptOf>) => body.length + ATTEMPT_BYTES,
    write: publishAll,
  })

  async function publishAll(all: readonly Parameters<typeof liveAttemptOf>[]): Promise<void> {
    const byTenant = Map.groupBy(all, ([{ tenant }]) => tenant)
    const written = await Promise.allSettled(
      [...byTenant].map(async ([tenant, slots]) => {
        const attempts = slots.slice(0, MAX_OF_TENANT).map((slot) => liveAttemptOf(...slot))
        await publish(tenant, attempts, slots.length - attempts.length)
      }),
    )
    const failed = written.filter(({ status }) => status === 'rejected').length
    if (failed > 0) log.debug('attempts were not published to the live stream', { tenants: failed })
  }

  const concluded: Concluded = (delivery, attempt, decision) => {
    if (attempt !== null && listened.has(delivery.tenant)) gathered.add([delivery, attempt, decision])
  }

  return {
    observer: { concluded },
    /** Called with each read of an endpoint: whether a listener reads the tenant's live stream. */
    setListened: (tenant: Tenant, isListened: boolean): void => {
      if (isListened) listened.add(tenant)
      else listened.delete(tenant)
    },
    flush: async () => gathered.flush(),
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

const STATES: Readonly<Record<Decision['kind'], LiveAttempt['state']>> = {
  acknowledged: 'acknowledged',
  withdrawn: 'withdrawn',
  expired: 'expired',
  retry: 'waiting',
  hold: 'held',
  postpone: 'waiting',
  park: 'parked',
}
