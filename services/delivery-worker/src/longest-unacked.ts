import { CONFIRM_TIMEOUT_MS, LONGEST_HOLD_MS } from '@switchhook/messaging'
import { turnsForRetries } from './isolation/isolate.ts'

/** The depth of a lane's prefetch, in caps: deliveries that are put off without a turn pass through quickly. */
export const LANE_DEPTH = 4

/** RabbitMQ closes a channel that holds a message unacknowledged for longer; its default. */
export const BROKER_CONSUMER_TIMEOUT_MS = 30 * 60_000

/**
 * Redis commands that one delivery may wait for in series, each for 3 s at most: the look before it waits for its turn,
 * the look within its turn, the installation that each of them verifies if the subscription is gone, the claim of a probe,
 * the renewal of a lease at the deadline, parking (the tenant's mark, the list, the record, and the installation once
 * more), and the reads of a notice: twelve.
 */
const STORE_MS = 12 * 3_000

/** Publishes that one attempt may wait for in series: a retry, or a notice after parking. */
const CONFIRMS = 1

/**
 * The longest time that a delivery can stay unacknowledged in a worker, in the worst order of events.
 *
 * The worst place is the end of a lane. The lane's prefetch holds `LANE_DEPTH` caps, all of one subscription. Before the
 * last of them gets its turn, one round of attempts is under way, first attempts that waited for a moment may take another
 * round, and then the others of the lane take theirs, as many at a time as retries may have turns. A turn lasts for the
 * deadline of the attempt and for what is stored and published after it. When Redis or the broker is away, the consumer
 * holds the message for a while, and all of this may come again after the last pause. Other consumers keep a message for
 * less: a receiver check takes two deadlines, and a delivery that falls due waits for a moment before it moves to a lane.
 */
export function longestUnackedMs(deliveryTimeoutMs: number, cap: number): number {
  return LONGEST_HOLD_MS + roundsOf(cap) * (deliveryTimeoutMs + afterAttemptMs)
}

/** The longest deadline of an attempt with which no delivery outlasts the broker's consumer timeout. */
export function longestDeliveryTimeoutMs(cap: number): number {
  return Math.floor((BROKER_CONSUMER_TIMEOUT_MS - LONGEST_HOLD_MS) / roundsOf(cap)) - afterAttemptMs
}

const afterAttemptMs = STORE_MS + CONFIRMS * CONFIRM_TIMEOUT_MS

const roundsOf = (cap: number): number => 2 + Math.ceil((LANE_DEPTH * cap) / turnsForRetries(cap))
