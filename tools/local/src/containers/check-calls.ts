import type { Arrival } from '../demo/subscriber.ts'

const ENDED = 7

export interface CallCheck {
  /** Calls with a missing webhook: their sequence has a gap, or their end was not reported. */
  readonly unfinished: number
  readonly webhooks: number
  /** Webhooks that arrived again, as at-least-once delivery allows. */
  readonly twice: number
}

/** Checks that the webhooks of every accepted call have arrived. */
export function checkCalls(
  callIds: readonly string[],
  arrivals: readonly Pick<Arrival, 'deliveryId' | 'envelope'>[],
): CallCheck {
  const statesByCall = new Map<string, Map<number, number>>()
  for (const { envelope } of arrivals) {
    const { callId, sequence, state } = envelope.data
    statesByCall.set(callId, (statesByCall.get(callId) ?? new Map<number, number>()).set(sequence, state))
  }
  const isComplete = (callId: string): boolean => {
    const states = statesByCall.get(callId)
    // Without a gap, the last sequence number equals the number of states.
    return states !== undefined && states.get(states.size) === ENDED
  }
  const webhooks = new Set(arrivals.map(({ deliveryId }) => deliveryId)).size
  return {
    unfinished: callIds.filter((callId) => !isComplete(callId)).length,
    webhooks,
    twice: arrivals.length - webhooks,
  }
}
