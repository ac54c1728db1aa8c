import { type Broker, backlogQueue, dueQueues, MAX_PACKET_MEMBERS, packetQueue, Queue } from '@switchhook/messaging'
import { startPoll } from '@switchhook/runtime'
import type { FairSemaphore } from './fair-semaphore.ts'
import type { TenantShares } from './tenant-shares.ts'

const POLL_EVERY_MS = 50
/** Without work. A burst is noticed this late at most; until then tenants have their shares of the events in progress. */
const IDLE_MS = 200
/** More deliveries than this in a shard of due queues are late. Workers hold some hundred besides. */
const LATE_DELIVERIES = 200
/** Yielding deliveries that are published before workers take them. */
const MAX_YIELDING = 500

/** A queue of deliveries, and the one of packets beside it. */
type QueuePair = readonly [deliveries: string, packets: string]
const YIELDING: QueuePair = [Queue.yielding, Queue.yieldingPackets]

export interface QueueWatchDeps {
  readonly broker: Pick<Broker, 'queueDepths'>
  readonly deliveryShards: number
  /** Knows the backlogs of the deferred tenants. `endDeferrals` is called after each read. */
  readonly shares: Pick<TenantShares, 'backlogs' | 'endDeferrals'>
  /** Limits the events that are handled directly. */
  readonly direct: Pick<FairSemaphore<unknown>, 'hasWork'>
  /** Limits the events from backlogs. Opened while workers keep up. */
  readonly fromBacklogs: Pick<FairSemaphore<number>, 'hasWork' | 'isWaiting' | 'setOpen'>
}

/** What fan-out knows about the queues of its workers. When they cannot be read, the last read stays in force. */
export function startQueueWatch(deps: QueueWatchDeps) {
  const { broker, deliveryShards, shares, direct, fromBacklogs } = deps
  const due = dueQueues(deliveryShards).map((queue, shard): QueuePair => [queue, packetQueue(shard)])
  let areDeliveriesLate = false

  function wanted(): readonly string[] {
    const backlogs = [...shares.backlogs()].map(backlogQueue)
    const isWanted = areDeliveriesLate || direct.hasWork() || backlogs.length > 0 || fromBacklogs.hasWork()
    return isWanted ? [...due.flat(), ...YIELDING, ...backlogs] : []
  }

  function note(ready: ReadonlyMap<string, number | undefined>): void {
    /** A packet counts as a full one. */
    const waiting = ([deliveries, packets]: QueuePair): number =>
      (ready.get(deliveries) ?? 0) + (ready.get(packets) ?? 0) * MAX_PACKET_MEMBERS
    // Packets that this process holds are not ready in their queue.
    shares.endDeferrals((n) => ready.get(backlogQueue(n)) === 0 && !fromBacklogs.isWaiting(n))
    const mayPublish = waiting(YIELDING) < MAX_YIELDING
    areDeliveriesLate = !mayPublish || due.some((pair) => waiting(pair) > LATE_DELIVERIES)
    fromBacklogs.setOpen(mayPublish)
  }

  const poll = startPoll(POLL_EVERY_MS, async () => {
    const queues = wanted()
    if (queues.length === 0) return IDLE_MS
    await broker.queueDepths(queues).then(
      (ready) => note(new Map(queues.map((queue, at) => [queue, ready[at]]))),
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
