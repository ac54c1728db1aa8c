import type { Arrival } from '../demo/subscriber.ts'

const ENDED = 7

export interface Verdict {
  /** Calls of which a webhook has not come: their sequence has a gap, or their end was not told. */
  readonly unfinished: number
  readonly webhooks: number
  /** Webhooks that came again, as at-least-once allows. */
  readonly twice: number
}

/** What endpoints were told of calls that were accepted. */
export function judgeCalls(
  callIds: readonly string[],
  arrivals: readonly Pick<Arrival, 'deliveryId' | 'envelope'>[],
): Verdict {
  const told = new Map<string, Map<number, number>>()
  for (const { envelope } of arrivals) {
    const { callId, sequence, state } = envelope.data
    told.set(callId, (told.get(callId) ?? new Map<number, number>()).set(sequence, state))
  }
  const isWhole = (callId: string): boolean => {
    const states = told.get(callId)
    // Without a gap, the last sequence is their number.
    return states !== undefined && states.get(states.size) === ENDED
  }
  const webhooks = new Set(arrivals.map(({ deliveryId }) => deliveryId)).size
  return {
    unfinished: callIds.filter((callId) => !isWhole(callId)).length,
    webhooks,
    twice: arrivals.length - webhooks,
  }
}
