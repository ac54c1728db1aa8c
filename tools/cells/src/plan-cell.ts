import type { Inputs } from './inputs.ts'

/** A resource of which a cell has a fixed amount, and the deliveries per second that it bears at the planned load. */
interface Limit {
  readonly resource: string
  readonly deliveriesPerSecond: number
  /** How a cell gets more of it. */
  readonly remedy: string
}

export interface CellPlan {
  /** The lowest first. */
  readonly limits: readonly Limit[]
  /** What one cell bears: the lowest limit. */
  readonly deliveriesPerSecond: number
  readonly cells: number
  readonly subscriptionsPerCell: number
  /** Of one cell at that rate. */
  readonly parts: {
    readonly workers: number
    readonly fanout: number
    /** Planned cores of workers, fan-out, RabbitMQ and Redis together. */
    readonly cores: number
    readonly redisMemoryGib: number
    /** Bytes per second that each RabbitMQ node writes. */
    readonly diskBytesPerSecond: number
  }
}

const MICROSECONDS = 1_000_000
const GIB = 2 ** 30
/** Each worker and fan-out process uses one core. Two of each, because one can die. */
const LEAST_PROCESSES = 2

/** Finds how many deliveries per second a cell bears, which resource limits it, and how many cells the goal needs. */
export function planCell({ goal, workload, plannedLoad, redis, rabbitmq }: Inputs): CellPlan {
  const { costs, deliveriesPerEvent } = workload
  const perCore = (us: number): number => (plannedLoad * MICROSECONDS) / us
  // Each delivery keeps its record, and its part of the event's, for the retention.
  const keptBytes = redis.retentionSeconds * (redis.bytesPerDelivery + redis.bytesPerEvent / deliveriesPerEvent)
  const subscriptionBytes = (goal.subscriptions / goal.deliveriesPerSecond) * redis.bytesPerSubscription

  const limits = [
    {
      resource: `Redis's memory (${redis.memoryGib} GiB)`,
      deliveriesPerSecond: (plannedLoad * redis.memoryGib * GIB) / (keptBytes + subscriptionBytes),
      remedy: 'a shorter DELIVERY_RETENTION, or more memory',
    },
    {
      resource: "Redis's one core",
      deliveriesPerSecond: perCore(costs.redis),
      remedy: 'Redis Cluster, with more processor time per command',
    },
    {
      resource: `RabbitMQ's processors (${rabbitmq.nodes} nodes of ${rabbitmq.coresPerNode} cores)`,
      // Every node stores every message, so a node is planned as if it did the whole work.
      deliveriesPerSecond: perCore(costs.rabbitmq) * rabbitmq.coresPerNode,
      remedy: 'larger nodes, with DELIVERY_SHARDS for more cores',
    },
    {
      resource: 'one shard of events (highest rate seen through one queue)',
      deliveriesPerSecond: workload.seenThroughOneQueue * deliveriesPerEvent,
      remedy: 'EVENT_SHARDS',
    },
  ].toSorted((a, b) => a.deliveriesPerSecond - b.deliveriesPerSecond)

  const rate = limits[0]?.deliveriesPerSecond ?? 0
  const cells = Math.ceil(goal.deliveriesPerSecond / rate)
  const processes = (us: number): number => Math.max(LEAST_PROCESSES, Math.ceil(rate / perCore(us)))
  const workers = processes(costs.workers)
  const fanout = processes(costs.fanout)
  return {
    limits,
    deliveriesPerSecond: rate,
    cells,
    subscriptionsPerCell: Math.ceil(goal.subscriptions / cells),
    parts: {
      workers,
      fanout,
      cores: workers + fanout + rabbitmq.nodes * rabbitmq.coresPerNode + 1,
      redisMemoryGib: redis.memoryGib,
      diskBytesPerSecond: rate * (1 + 1 / deliveriesPerEvent) * rabbitmq.bytesPerMessage * rabbitmq.writesPerMessage,
    },
  }
}
