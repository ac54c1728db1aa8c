import { type Broker, dueQueues, Queue } from '@switchhook/messaging'
import { type Logger, startPoll } from '@switchhook/runtime'
import {
  createHeldLooks,
  createHeldStore,
  createOutcomeStore,
  createPermitStore,
  type DeliveryArchive,
  type DeliveryStore,
  type HeldStore,
  type Installation,
  type Redis,
} from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import { maxAttemptMs, type WorkerConfig } from '../config.ts'
import { createLimits, type Limits } from '../limits/limits.ts'
import type { Notices } from '../notices/notices.ts'
import type { AfterSettled, Pipeline } from '../pipeline/deliver.ts'
import { createLookAtHeld, type HeldLooksDeps } from './look-at-held.ts'
import { createParkExcess } from './park-excess.ts'
import { createRecordOutcomes, type RecordOutcomeDeps } from './record-outcomes.ts'

interface HeldDeps {
  readonly config: WorkerConfig
  readonly redis: Redis
  readonly broker: Pick<Broker, 'publishDelivery' | 'publishBacklogged'>
  readonly installation: Pick<Installation, 'confirmAbsence'>
  readonly deliveries: Pick<DeliveryStore, 'park' | 'listAgain'>
  readonly archive: Pick<DeliveryArchive, 'find'>
  readonly notices: Pick<Notices, 'noticeParked'>
  readonly clocks: Clocks
  readonly log: Logger
}

/** The held deliveries, the limits that hold them, and what is done after one was held. */
interface Held extends Pick<HeldLooksDeps, 'parkExcess' | 'listAgain'> {
  readonly store: HeldStore
  readonly limits: Limits
  readonly afterSettled: AfterSettled
}

export function createHeld(deps: HeldDeps): Held {
  const { redis, broker, deliveries, archive, clocks, log } = deps
  const { noticeParked } = deps.notices
  const { publishDelivery, publishBacklogged } = broker
  const listed = createHeldStore(redis)
  // A Redis that was emptied has no messages: an outcome must not count as recorded, nor an entry as settled.
  const read = deps.installation.confirmAbsence(
    (...ids: Parameters<typeof listed.read>) => listed.read(...ids),
    (found) => found.status === 'fulfilled' && found.value.includes(undefined),
  )
  const held = { ...listed, read }
  const permits = createPermitStore(redis, maxAttemptMs(deps.config))
  const limits = createLimits({ publishDelivery, publishBacklogged, permits, held, log, ...clocks })
  const parkExcess = createParkExcess({ held, archive, deliveries, noticeParked, log })
  const listAgain: RecordOutcomeDeps['listAgain'] = async (message) => parkExcess(await deliveries.listAgain(message))
  const afterSettled: AfterSettled = async ({ delivery, written }) =>
    written === undefined ? listAgain(delivery) : parkExcess(written.excess)
  return { store: held, limits, parkExcess, listAgain, afterSettled }
}

interface LooksDeps extends Pick<HeldDeps, 'redis' | 'archive' | 'clocks' | 'log'> {
  readonly broker: Pick<Broker, 'publishBacklogged' | 'queueDepths'>
  /** Shards of the due queues. */
  readonly shards: number
  readonly notices: Pick<Notices, 'noticeParked' | 'noticeHeldLimit'>
  readonly held: Held
  readonly look: HeldLooksDeps['endpoint']
  readonly conclude: Pipeline['conclude']
}

const LOOKS_EVERY_MS = 1_000

/** Lets held deliveries go on, and records what clients report. A lease that ends takes the steps of `conclude`. */
export function startLooks({ redis, broker, shards, archive, notices, held, look, conclude, clocks, log }: LooksDeps) {
  const { store, limits, parkExcess, listAgain } = held
  const recording = { conclude, archive, noticeParked: notices.noticeParked, listAgain, held: store }
  async function waiting() {
    const [backlog, ...due] = await broker.queueDepths([Queue.deliveryBacklog, ...dueQueues(shards)])
    return { backlog: backlog?.ready ?? 0, due: due.reduce((sum, queue) => sum + (queue?.ready ?? 0), 0) }
  }
  const lookAtHeld = createLookAtHeld({
    ...recording,
    looks: createHeldLooks(redis),
    endpoint: look,
    publish: broker.publishBacklogged,
    limits,
    parkExcess,
    noticeLimit: notices.noticeHeldLimit,
    waiting,
    now: clocks.now,
    log,
  })
  const looks = startPoll(LOOKS_EVERY_MS, lookAtHeld, (error) =>
    log.warn('due looks at held deliveries cannot be read; retrying', { error }),
  )
  return {
    recordOutcomes: createRecordOutcomes({ ...recording, outcomes: createOutcomeStore(redis) }),
    stop: async (): Promise<void> => {
      await looks.stop()
      await limits.ended()
    },
  }
}
