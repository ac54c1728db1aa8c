import { type Broker, backlogQueue, dueQueues, packetQueues, Queue, type QueueDepth } from '@switchhook/messaging'
import { startPoll } from '@switchhook/runtime'
import type { FirstAttempts } from '../events/first-attempts.ts'
import type { FairSemaphore } from './fair-semaphore.ts'
import type { TenantShares } from './tenant-shares.ts'

const POLL_EVERY_MS = 50
/** Without work. A burst is noticed this late at most; until then tenants have their shares of the events in progress. */
const IDLE_MS = 200
/** More deliveries than this in a shard of due queues are late. Workers hold some hundred besides. */
const LATE_DELIVERIES = 200
/** Yielding deliveries that are published before workers take them. */
const MAX_YIELDING = 500
type PacketSize = Pick<FirstAttempts, 'membersPerPacket'>

export interface QueueWatchDeps {
  readonly broker: Pick<Broker, 'queueDepths'>
  readonly deliveryShards: number
  /** Knows the backlogs of the deferred tenants. `endDeferrals` is called after each read. */
  readonly shares: Pick<TenantShares, 'backlogs' | 'endDeferrals'>
  /** Limits the events that are handled directly. */
  readonly direct: Pick<FairSemaphore<unknown>, 'hasWork'>
  /** Limits the events from backlogs. Opened while workers keep up. */
  readonly fromBacklogs: Pick<FairSemaphore<number>, 'hasWork' | 'isWaiting' | 'setOpen'>
  /** Publishes first attempts to the due queues. */
  readonly firstAttempts: PacketSize
  /** Publishes those that give way: of events from backlogs, and of tenants with many deliveries. */
  readonly yielding: PacketSize
}

/** What fan-out knows about the queues of its workers. When they cannot be read, the last read stays in force. */
export function startQueueWatch(deps: QueueWatchDeps) {
  const { broker, deliveryShards, shares, direct, fromBacklogs, firstAttempts, yielding } = deps
  const due = dueQueues(deliveryShards)
  const packets = packetQueues(deliveryShards)
  let areDeliveriesLate = false

  function wanted(): readonly string[] {
    const backlogs = [...shares.backlogs()].map(backlogQueue)
    const hasWork = direct.hasWork() || backlogs.length > 0 || fromBacklogs.hasWork()
    const isWanted = areDeliveriesLate || hasWork
    return isWanted ? [...due, ...packets, Queue.yielding, Queue.yieldingPackets, ...backlogs] : []
  }

  function note(depths: ReadonlyMap<string, QueueDepth | undefined>): void {
    const readyIn = (queue: string | undefined): number => depths.get(queue ?? '')?.ready ?? 0
    const perPacket = firstAttempts.membersPerPacket()
    const dueReady = due.map((queue, shard) => readyIn(queue) + readyIn(packets[shard]) * perPacket)
    // Packets that this process holds are not ready in their queue.
    shares.endDeferrals((n) => depths.get(backlogQueue(n))?.ready === 0 && !fromBacklogs.isWaiting(n))
    const yieldingReady = readyIn(Queue.yielding) + readyIn(Queue.yieldingPackets) * yielding.membersPerPacket()
    const mayPublish = yieldingReady < MAX_YIELDING
    areDeliveriesLate = !mayPublish || Math.max(...dueReady) > LATE_DELIVERIES
    fromBacklogs.setOpen(mayPublish)
  }

  const poll = startPoll(POLL_EVERY_MS, async () => {
    const queues = wanted()
    if (queues.length === 0) return IDLE_MS
    await broker.queueDepths(queues).then(
      (depths) => note(new Map(queues.map((queue, at) => [queue, depths[at]]))),
      () => {}, // The broker is away; publishes and consumers report it.
    )
    return undefined
  })
  return {
    /** More deliveries wait than workers take, of those that are due or of those that give way. */
    areDeliveriesLate: (): boolean => areDeliveriesLate,
    stop: poll.stop,
  }
}
