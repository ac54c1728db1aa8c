import { type Broker, backlogQueue, dueQueues, packetQueues, Queue, type QueueDepth } from '@switchhook/messaging'
import { startPoll } from '@switchhook/runtime'

const LOOK_EVERY_MS = 50
/** More deliveries than this in a shard of due queues are late. Workers hold some hundred besides. */
const LATE_DELIVERIES = 200
/** Deliveries that are released from backlogs before workers take them. */
const RELEASED_DELIVERIES = 500
/** How long a look proves that workers consume packets. While deliveries are published, looks are far more frequent. */
const TRUSTED_MS = 1_000

export interface QueueWatchDeps {
  readonly broker: Pick<Broker, 'lookAt'>
  readonly deliveryShards: number
  /** Work is in progress or waits: the due queues must be looked at. */
  readonly isBusy: () => boolean
  readonly backlogs: () => ReadonlySet<number>
  /** Deliveries of backlogs are being released or wait for it. */
  readonly isReleasing: () => boolean
  readonly membersPerPacket: () => number
  /** The same of packets of released deliveries. */
  readonly releasedPerPacket: () => number
  /** Called after each look. @param isEmpty whether no message is ready in a backlog */
  readonly looked: (isEmpty: (backlog: number) => boolean) => void
  /** Called after each look. */
  readonly setOpen: (mayRelease: boolean) => void
}

/** What fan-out knows about the queues of its workers. When they cannot be read, the last look stays in force. */
export function startQueueWatch(deps: QueueWatchDeps) {
  const due = dueQueues(deps.deliveryShards)
  const packets = packetQueues(deps.deliveryShards)
  let areDeliveriesLate = false
  let isBacklogTaken = false
  let arePacketsTaken = false
  let areBacklogPacketsTaken = false
  let trustedUntil = Number.NEGATIVE_INFINITY
  // The first look is needed before the first delivery.
  let isAsked = true

  function wanted(): readonly string[] {
    const backlogs = [...deps.backlogs()].map(backlogQueue)
    const isWanted = isAsked || areDeliveriesLate || deps.isBusy() || backlogs.length > 0 || deps.isReleasing()
    return isWanted ? [...due, ...packets, Queue.deliveryBacklog, Queue.backlogPackets, ...backlogs] : []
  }

  function note(depths: ReadonlyMap<string, QueueDepth | undefined>): void {
    const readyIn = (queue: string | undefined): number => depths.get(queue ?? '')?.ready ?? 0
    const dueReady = due.map((queue, shard) => readyIn(queue) + readyIn(packets[shard]) * deps.membersPerPacket())
    const isConsumed = (queue: string): boolean => (depths.get(queue)?.consumers ?? 0) > 0
    arePacketsTaken = packets.every(isConsumed)
    trustedUntil = performance.now() + TRUSTED_MS
    deps.looked((backlog) => depths.get(backlogQueue(backlog))?.ready === 0)
    isBacklogTaken = isConsumed(Queue.deliveryBacklog)
    areBacklogPacketsTaken = isConsumed(Queue.backlogPackets)
    const released = readyIn(Queue.deliveryBacklog) + readyIn(Queue.backlogPackets) * deps.releasedPerPacket()
    const mayRelease = released < RELEASED_DELIVERIES
    areDeliveriesLate = !mayRelease || Math.max(...dueReady) > LATE_DELIVERIES
    deps.setOpen(isBacklogTaken ? mayRelease : !areDeliveriesLate)
  }

  function isTrusted(): boolean {
    isAsked = true
    return performance.now() < trustedUntil
  }

  const poll = startPoll(LOOK_EVERY_MS, async () => {
    const queues = wanted()
    if (queues.length === 0) return
    isAsked = false
    await deps.broker.lookAt(queues).then(
      (depths) => note(new Map(queues.map((queue, at) => [queue, depths[at]]))),
      () => {}, // The broker is away; publishes and consumers report it.
    )
  })
  poll.wake()
  return {
    /** More deliveries wait than workers take, of those that are due or of those that give way. */
    areDeliveriesLate: (): boolean => areDeliveriesLate,
    /** Workers consume packets: those of earlier versions do not. Asking makes the next look happen. */
    arePacketsTaken: (): boolean => isTrusted() && arePacketsTaken,
    /** Workers consume released deliveries: those of earlier versions do not. */
    isBacklogTaken: (): boolean => isBacklogTaken,
    /** The same for packets of released deliveries. */
    areBacklogPacketsTaken: (): boolean => isTrusted() && areBacklogPacketsTaken,
    stop: poll.stop,
  }
}
