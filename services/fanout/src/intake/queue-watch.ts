import { type Broker, backlogQueue, dueQueues, packetQueues, Queue, type QueueDepth } from '@switchhook/messaging'
import { startPoll } from '@switchhook/runtime'
import type { FirstAttempts } from '../events/first-attempts.ts'
import type { FairTurns } from './fair-turns.ts'
import type { Line } from './intake.ts'
import type { TenantShares } from './tenant-shares.ts'

const LOOK_EVERY_MS = 50
/** More deliveries than this in a shard of due queues are late. Workers hold some hundred besides. */
const LATE_DELIVERIES = 200
/** Deliveries that are released from backlogs before workers take them. */
const RELEASED_DELIVERIES = 500
/** How long a look proves that workers consume packets. While deliveries are published, looks are far more frequent. */
const TRUSTED_MS = 1_000

type PacketSize = Pick<FirstAttempts, 'membersPerPacket'>

export interface QueueWatchDeps {
  readonly broker: Pick<Broker, 'lookAt'>
  readonly deliveryShards: number
  /** Knows the backlogs of the deferred tenants. `release` is called after each look. */
  readonly shares: Pick<TenantShares, 'backlogs' | 'release'>
  /** The turns of events that are handled directly. */
  readonly direct: Pick<FairTurns<Line>, 'hasWork'>
  /** The turns of packs from backlogs. Opened while workers keep up. */
  readonly backlog: Pick<FairTurns<number>, 'hasWork' | 'isWaiting' | 'setOpen'>
  /** Publishes first attempts to the due queues. */
  readonly firstAttempts: PacketSize
  /** Publishes those that give way: of events from backlogs, and of tenants with many deliveries. */
  readonly released: PacketSize
}

/** What fan-out knows about the queues of its workers. When they cannot be read, the last look stays in force. */
export function startQueueWatch(deps: QueueWatchDeps) {
  const { broker, deliveryShards, shares, direct, backlog, firstAttempts, released } = deps
  const due = dueQueues(deliveryShards)
  const packets = packetQueues(deliveryShards)
  let seen = { areDeliveriesLate: false, isBacklogTaken: false, arePacketsTaken: false, areBacklogPacketsTaken: false }
  let trustedUntil = Number.NEGATIVE_INFINITY
  // The first look is needed before the first delivery.
  let isAsked = true

  function wanted(): readonly string[] {
    const backlogs = [...shares.backlogs()].map(backlogQueue)
    const hasWork = direct.hasWork() || backlogs.length > 0 || backlog.hasWork()
    const isWanted = isAsked || seen.areDeliveriesLate || hasWork
    return isWanted ? [...due, ...packets, Queue.deliveryBacklog, Queue.backlogPackets, ...backlogs] : []
  }

  function note(depths: ReadonlyMap<string, QueueDepth | undefined>): void {
    const readyIn = (queue: string | undefined): number => depths.get(queue ?? '')?.ready ?? 0
    const perPacket = firstAttempts.membersPerPacket()
    const dueReady = due.map((queue, shard) => readyIn(queue) + readyIn(packets[shard]) * perPacket)
    const isConsumed = (queue: string): boolean => (depths.get(queue)?.consumers ?? 0) > 0
    trustedUntil = performance.now() + TRUSTED_MS
    // Packs that this process holds are not ready in their queue.
    shares.release((n) => depths.get(backlogQueue(n))?.ready === 0 && !backlog.isWaiting(n))
    const releasedReady = readyIn(Queue.deliveryBacklog) + readyIn(Queue.backlogPackets) * released.membersPerPacket()
    const mayRelease = releasedReady < RELEASED_DELIVERIES
    seen = {
      areDeliveriesLate: !mayRelease || Math.max(...dueReady) > LATE_DELIVERIES,
      isBacklogTaken: isConsumed(Queue.deliveryBacklog),
      arePacketsTaken: packets.every(isConsumed),
      areBacklogPacketsTaken: isConsumed(Queue.backlogPackets),
    }
    backlog.setOpen(seen.isBacklogTaken ? mayRelease : !seen.areDeliveriesLate)
  }

  function isTrusted(): boolean {
    isAsked = true
    return performance.now() < trustedUntil
  }

  const poll = startPoll(LOOK_EVERY_MS, async () => {
    const queues = wanted()
    if (queues.length === 0) return
    isAsked = false
    await broker.lookAt(queues).then(
      (depths) => note(new Map(queues.map((queue, at) => [queue, depths[at]]))),
      () => {}, // The broker is away; publishes and consumers report it.
    )
  })
  poll.wake()
  return {
    /** More deliveries wait than workers take, of those that are due or of those that give way. */
    areDeliveriesLate: (): boolean => seen.areDeliveriesLate,
    /** Workers consume packets: those of earlier versions do not. Asking makes the next look happen. */
    arePacketsTaken: (): boolean => isTrusted() && seen.arePacketsTaken,
    /** Workers consume released deliveries: those of earlier versions do not. */
    isBacklogTaken: (): boolean => seen.isBacklogTaken,
    /** The same for packets of released deliveries. */
    areBacklogPacketsTaken: (): boolean => isTrusted() && seen.areBacklogPacketsTaken,
    stop: poll.stop,
  }
}
