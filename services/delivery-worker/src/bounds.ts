import { LANES } from '@switchhook/messaging'
import type { WorkerConfig } from './config.ts'
import { MAX_IN_PROGRESS } from './endpoint/start-limit.ts'

/**
 * Packets that a worker receives, in `DELIVERY_CONCURRENCY`s: about eight times as many as it starts at a time, so that packets
 * of which a member hangs leave room. With more, a slow worker would keep more deliveries from the others.
 */
const PACKETS_SHARE = 0.5
/** The prefetch of a lane, in caps. Deliveries that need no turn pass through quickly, so it is more than one. */
const LANE_DEPTH = 4
/**
 * The share of a worker's deliveries that quick endpoints may take beyond their `SUBSCRIPTION_CONCURRENCY`. If they stop
 * answering, the rest is left to all others until the deadline.
 */
const QUICK_SHARE = 0.5
/** The share of a worker's deliveries that may hang of one tenant: a quarter of the packets that a worker receives. */
const TENANT_SHARE = 0.125

export type Bounds = ReturnType<typeof boundsOf>

/**
 * What bounds a worker's deliveries, from the queue to the POST. None can replace another: each counts something else, or over
 * something else. A delivery alone in `delivery.due` passes the prefetch, a turn, its tenant's share and a permit.
 *
 * | bound | counts | over | beyond it | where |
 * | --- | --- | --- | --- | --- |
 * | prefetch | messages that are not acknowledged | a queue, this worker | the broker keeps them for other workers | consume.ts |
 * | start limit | members of packets, and deliveries of backlogs, that have just started | this worker | wait in memory | endpoint/start-limit.ts |
 * | turns | deliveries in progress that are POSTed | a subscription, this worker | wait 250 ms, then move to a lane | endpoint/subscription-turns.ts, turn-limit.ts |
 * | lanes | deliveries that wait for a turn | the subscriptions of a queue, all workers | wait in the broker | endpoint/isolate.ts |
 * | tenant's share | POSTs that hang for a second | a tenant, this worker | move to a lane, unless the endpoint is known to be quick | endpoint/tenant-share.ts |
 * | permits | POSTs in flight, and in a second | a subscription that has limits, all workers | are held in Redis | limits/limits.ts |
 */
export function boundsOf(config: WorkerConfig, shards: number) {
  const { DELIVERY_CONCURRENCY: all, SUBSCRIPTION_CONCURRENCY: least, SUBSCRIPTION_CONCURRENCY_QUICK: most } = config
  const lane = LANE_DEPTH * least
  return {
    prefetch: {
      due: Math.ceil(all / shards),
      packets: Math.ceil((all * PACKETS_SHARE) / shards),
      backlog: all,
      backlogPackets: Math.ceil(all * PACKETS_SHARE),
      lane,
    },
    starting: all,
    turns: { least, most, beyondLeast: Math.floor(all * QUICK_SHARE) },
    mostHanging: Math.floor(all * TENANT_SHARE),
    /** POSTs in progress: of due deliveries alone, of packets, of backlogs, and of lanes. */
    posts: (1 + 2 * MAX_IN_PROGRESS) * all + LANES * lane,
  }
}
