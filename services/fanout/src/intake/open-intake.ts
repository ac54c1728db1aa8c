import { type Delivery, type PlatformEvent } from '@switchhook/contracts'
import { type Broker, backlogQueue, backlogQueues, dueQueues, Queue } from '@switchhook/messaging'
import type { Logger, Metrics } from '@switchhook/runtime'
import type { Installation } from '@switchhook/store'
import { createHandlePack } from './backlog.ts'
import { startDepthWatch } from './depth-watch.ts'
import { FairTurns } from './fair-turns.ts'
import { type ALONE, createIntake, parseReceivedEvent } from './intake.ts'
import { createIntakeMeter } from './intake-meter.ts'
import { decodePack, type Pack } from './pack.ts'
import { createPacker } from './packer.ts'
import { TenantShares } from './tenant-shares.ts'

/**
 * Events received and not acknowledged, for each that is handled at once. In a burst most of them wait for the confirm of a
 * pack, so the window limits the events a second; with 512 events in all, `fanout.events` grew during a burst.
 */
const WINDOW_DEPTH = 32
/**
 * Longer than the confirm of a pack takes. In a burst, events of many packs end in any order; an acknowledgement for each
 * costs RabbitMQ half as much as the event itself.
 */
const HOLD_ACKS_MS = 100
/** Packs that are received per backlog: the next one is there when one is finished. */
const PACKS_AT_ONCE = 2
/** Of the events handled at once, those from backlogs. */
const BACKLOG_PART = 0.5

const LOOK_EVERY_MS = 50
const AGE_EVERY_MS = 1_000
/** Far below the broker's limit for unacknowledged messages (30 minutes). The events then go back into new packs. */
const END_WAITS_EVERY_MS = 300_000
/** More deliveries than this in a due queue are late. Workers hold some hundred besides. */
const LATE_DELIVERIES = 200
/** Deliveries that are released from backlogs before workers take them. */
const RELEASED_DELIVERIES = 500

export interface IntakeOptions {
  readonly broker: Broker
  readonly installation: Pick<Installation, 'checked' | 'recovered'>
  readonly concurrency: number
  readonly shards: number
  /** Creates the handler of an event from what publishes its deliveries and what is told their number. */
  readonly handling: (
    publish: (delivery: Delivery) => Promise<void>,
    fannedOut: (event: PlatformEvent, deliveries: number) => void,
  ) => (event: PlatformEvent) => Promise<void>
  readonly metrics: Metrics
  readonly log: Logger
}

/** Consumes events and backlogs. Resolves once it consumes; the result stops it. */
export async function openIntake(options: IntakeOptions): Promise<() => Promise<void>> {
  const { broker, installation, concurrency, shards, handling, metrics, log } = options
  const window = concurrency * WINDOW_DEPTH
  const shares = new TenantShares()
  const direct = new FairTurns<string | null | typeof ALONE>(concurrency)
  const backlog = new FairTurns<number>(Math.ceil(concurrency * BACKLOG_PART), { isOpen: false })
  const due = dueQueues(shards)
  let areDeliveriesLate = false
  /** Workers of earlier versions do not consume the queue. */
  let workersTakeBacklog = false
  const deferred = createIntakeMeter(metrics, () => shares.deferredTenants())

  const watch = startDepthWatch({
    look: (queues) => broker.lookAt(queues),
    wanted: () => {
      const queues = [...shares.backlogs()].map(backlogQueue)
      if (queues.length > 0 || backlog.hasWork()) return [...due, Queue.deliveryBacklog, ...queues]
      return direct.hasWork() || areDeliveriesLate ? due : []
    },
    seen: (depths) => {
      const dueReady = Math.max(...due.map((queue) => depths.get(queue)?.ready ?? 0))
      areDeliveriesLate = dueReady > LATE_DELIVERIES
      // Packs that this process holds are not ready in their queue.
      shares.release((n) => depths.get(backlogQueue(n))?.ready === 0 && !backlog.isWaiting(n))
      const released = depths.get(Queue.deliveryBacklog)
      if (released === undefined) return
      workersTakeBacklog = released.consumers > 0
      backlog.setOpen(workersTakeBacklog ? released.ready < RELEASED_DELIVERIES : !areDeliveriesLate)
    },
    everyMs: LOOK_EVERY_MS,
  })
  const aging = setInterval(() => shares.age(), AGE_EVERY_MS)
  const ending = setInterval(() => backlog.endWaits(), END_WAITS_EVERY_MS)
  for (const timer of [aging, ending]) timer.unref()

  const intake = createIntake({
    shares,
    turns: direct,
    handle: handling(
      (delivery) => broker.publishDelivery(delivery),
      ({ tenant }, deliveries) => {
        shares.charge(tenant, deliveries)
        direct.charge(tenant, deliveries)
      },
    ),
    packer: createPacker((content, queue) => broker.publishPack(content, queue)),
    areDeliveriesLate: () => areDeliveriesLate,
    deferred,
  })
  const handlePackOf = (n: number): ((pack: Pack) => Promise<void>) =>
    createHandlePack({
      takeTurn: () => backlog.take(n),
      giveBack: () => backlog.giveBack(),
      handle: handling(
        (delivery) => (workersTakeBacklog ? broker.publishBacklogged(delivery) : broker.publishDelivery(delivery)),
        ({ tenant }, deliveries) => {
          shares.charge(tenant, deliveries)
          backlog.charge(n, deliveries)
        },
      ),
      publishAlone: (event) => broker.publishAlone(event),
      publishPack: (content) => broker.publishPack(content, n),
      log,
    })
  const { recovered } = installation
  const consumers = await Promise.all([
    broker.consume({
      queue: Queue.fanoutEvents,
      parse: installation.checked(parseReceivedEvent),
      handle: intake,
      concurrency: window,
      holdAcksMs: HOLD_ACKS_MS,
      recovered,
    }),
    ...backlogQueues.map((queue, n) =>
      broker.consume<Pack>({
        queue,
        parse: installation.checked(decodePack),
        handle: handlePackOf(n),
        concurrency: PACKS_AT_ONCE,
        recovered,
      }),
    ),
  ])
  return async () => {
    const drained = consumers.map((consumer) => consumer.drain())
    backlog.stop()
    await Promise.all(drained)
    for (const timer of [aging, ending]) clearInterval(timer)
    await watch.stop()
  }
}
