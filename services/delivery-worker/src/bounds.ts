import { LANES } from '@switchhook/messaging'
import type { WorkerConfig } from './config.ts'
import { MAX_IN_PROGRESS } from './endpoint/start-limit.ts'

/**
 * Packets that a worker receives, in `DELIVERY_CONCURRENCY`s: about eight times as many as it starts at a time, so that packets
 * of which a member hangs leave room. With more, a slow worker would keep more deliveries from the others.
 */
const PACKETS_SHARE = 0.5
/** The prefetch of a lane, in `SUBSCRIPTION_CONCURRENCY`s. Deliveries that need no turn pass quickly, so it is more than one. */
const LANE_DEPTH = 4
/**
 * The share of a worker's packets that quick endpoints may hold beyond their `SUBSCRIPTION_CONCURRENCY`. If they stop answering,
 * the rest is left to all others until the deadline: each POST may be in a packet of its own.
 */
const QUICK_SHARE = 0.75
/** The share of a worker's deliveries that may hang of one tenant: a quarter of the packets that a worker receives. */
const HANGING_SHARE = 0.125

export type Bounds = ReturnType<typeof boundsOf>

/**
 * What bounds a worker's deliveries, from the queue to the POST. docs/architecture.md lists what each of them counts, and what
 * happens beyond it.
 */
export function boundsOf(config: WorkerConfig, shards: number) {
  const { DELIVERY_CONCURRENCY: all, SUBSCRIPTION_CONCURRENCY: least, SUBSCRIPTION_CONCURRENCY_QUICK: most } = config
  const lane = LANE_DEPTH * least
  return {
    prefetch: {
      due: Math.ceil(all / shards),
      packets: Math.ceil((all * PACKETS_SHARE) / shards),
      yielding: all,
      yieldingPackets: Math.ceil(all * PACKETS_SHARE),
      lane,
    },
    starting: all,
    turns: { least, most, beyondLeast: Math.floor(all * PACKETS_SHARE * QUICK_SHARE) },
    mostHanging: Math.floor(all * HANGING_SHARE),
    /** POSTs in progress: of due deliveries alone, of packets, of those that give way, and of lanes. */
    posts: (1 + 2 * MAX_IN_PROGRESS) * all + LANES * lane,
  }
}
