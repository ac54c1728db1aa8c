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
  /** The backlogs that must be looked at. */
  readonly backlogs: () => ReadonlySet<number>
  /** Deliveries of backlogs are being released or wait for it. */
  readonly isReleasing: () => boolean
  readonly membersPerPacket: () => number
  /** Called after each look. @param isEmpty whether no message is ready in a backlog */
  readonly looked: (isEmpty: (backlog: number) => boolean) => void
  /** Called after each look at the released deliveries. */
  readonly setOpen: (mayRelease: boolean) => void
}

/** What fan-out knows about the queues of its workers. When they cannot be read, the last look stays in force. */
export interface QueueWatch {
  /** More deliveries are due than workers take. */
  readonly areDeliveriesLate: () => boolean
  /** Workers consume packets: those of earlier versions do not. Asking makes the next look happen. */
  readonly arePacketsTaken: () => boolean
  /** Workers consume released deliveries: those of earlier versions do not. */
  readonly isBacklogTaken: () => boolean
  readonly stop: () => Promise<void>
}

export function startQueueWatch(deps: QueueWatchDeps): QueueWatch {
  const due = dueQueues(deps.deliveryShards)
  const packets = packetQueues(deps.deliveryShards)
  let areDeliveriesLate = false
  let isBacklogTaken = false
  let packetsTakenUntil = Number.NEGATIVE_INFINITY
  // The first look is needed before the first delivery.
  let isAsked = true

  function wanted(): readonly string[] {
    const backlogs = [...deps.backlogs()].map(backlogQueue)
    if (backlogs.length > 0 || deps.isReleasing()) return [...due, ...packets, Queue.deliveryBacklog, ...backlogs]
    return isAsked || areDeliveriesLate || deps.isBusy() ? [...due, ...packets] : []
  }

  function note(depths: ReadonlyMap<string, QueueDepth>): void {
    const readyIn = (queue: string | undefined): number => depths.get(queue ?? '')?.ready ?? 0
    const dueReady = due.map((queue, shard) => readyIn(queue) + readyIn(packets[shard]) * deps.membersPerPacket())
    areDeliveriesLate = Math.max(...dueReady) > LATE_DELIVERIES
    const arePacketsTaken = packets.every((queue) => (depths.get(queue)?.consumers ?? 0) > 0)
    packetsTakenUntil = arePacketsTaken ? performance.now() + TRUSTED_MS : Number.NEGATIVE_INFINITY
    deps.looked((backlog) => depths.get(backlogQueue(backlog))?.ready === 0)
    const released = depths.get(Queue.deliveryBacklog)
    if (released === undefined) return
    isBacklogTaken = released.consumers > 0
    deps.setOpen(isBacklogTaken ? released.ready < RELEASED_DELIVERIES : !areDeliveriesLate)
  }

  const poll = startPoll(LOOK_EVERY_MS, async () => {
    const queues = wanted()
    if (queues.length === 0) return
    isAsked = false
    await deps.broker.lookAt(queues).then(
      (depths) => note(new Map(queues.flatMap((queue, at) => pair(queue, depths[at])))),
      () => {}, // The broker is away; publishes and consumers report it.
    )
  })
  poll.wake()
  return {
    areDeliveriesLate: () => areDeliveriesLate,
    arePacketsTaken: () => {
      isAsked = true
      return performance.now() < packetsTakenUntil
    },
    isBacklogTaken: () => isBacklogTaken,
    stop: poll.stop,
  }
}

const pair = (queue: string, depth: QueueDepth | undefined): [string, QueueDepth][] =>
  depth === undefined ? [] : [[queue, depth]]
