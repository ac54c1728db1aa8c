import { type Broker, dueQueues, Queue } from '@switchhook/messaging'
import { type Logger, startPoll } from '@switchhook/runtime'
import {
  createHeldLooks,
  createHeldStore,
  createOutcomeStore,
  createPermitStore,
  type DeliveryArchive,
  type DeliveryStore,
  type Installation,
  type Redis,
} from '@switchhook/store'
import type { Clocks } from '../clocks.ts'
import { maxAttemptMs, type WorkerConfig } from '../config.ts'
import { createLimits } from '../limits/limits.ts'
import type { Notices } from '../notices/notices.ts'
import type { AfterSettled, Pipeline } from '../pipeline/deliver.ts'
import { createLookAtHeld, type HeldLooksDeps } from './look-at-held.ts'
import { createParkExcess } from './park-excess.ts'
import { createRecordOutcomes, type RecordOutcomeDeps } from './record-outcomes.ts'

interface HeldDeps {
  readonly config: WorkerConfig
  readonly redis: Redis
  readonly broker: Pick<Broker, 'publishDelivery' | 'publishBacklogged' | 'queueDepths'>
  /** Shards of the due queues. */
  readonly shards: number
  readonly installation: Pick<Installation, 'confirmAbsence'>
  readonly deliveries: Pick<DeliveryStore, 'park' | 'listAgain'>
  readonly archive: Pick<DeliveryArchive, 'find'>
  readonly endpoint: HeldLooksDeps['endpoint']
  readonly notices: Pick<Notices, 'noticeParked' | 'noticeHeldLimit'>
  readonly clocks: Clocks
  readonly log: Logger
}

const LOOKS_EVERY_MS = 1_000

/** What concerns held deliveries: the limits that hold them, the looks that let them go on, and the outcomes that clients report. */
export function createHeld(deps: HeldDeps) {
  const { redis, broker, deliveries, archive, notices, clocks, log } = deps
  const listed = createHeldStore(redis)
  // A Redis that was emptied has no messages: an outcome must not count as recorded, nor an entry as settled.
  const read = deps.installation.confirmAbsence(
    (...ids: Parameters<typeof listed.read>) => listed.read(...ids),
    (found) => found.status === 'fulfilled' && found.value.includes(undefined),
  )
  const held = { ...listed, read }
  const { noticeParked } = notices
  const permits = createPermitStore(redis, maxAttemptMs(deps.config))
  const limits = createLimits({ ...broker, permits, held, log, ...clocks })
  const parkExcess = createParkExcess({ held, archive, deliveries, noticeParked, log })
  const listAgain: RecordOutcomeDeps['listAgain'] = async (message) => parkExcess(await deliveries.listAgain(message))
  const afterSettled: AfterSettled = async ({ delivery, written }) =>
    written === undefined ? listAgain(delivery) : parkExcess(written.excess)
  async function waiting() {
    const [backlog, ...due] = await broker.queueDepths([Queue.deliveryBacklog, ...dueQueues(deps.shards)])
    return { backlog: backlog?.ready ?? 0, due: due.reduce((sum, queue) => sum + (queue?.ready ?? 0), 0) }
  }

  return {
    limits,
    afterSettled,
    /** Looks from now on. What ends a lease takes the steps of `conclude`. */
    start({ conclude }: Pick<Pipeline, 'conclude'>) {
      const recording = { conclude, archive, noticeParked, listAgain }
      const lookAtHeld = createLookAtHeld({
        ...recording,
        held,
        looks: createHeldLooks(redis),
        endpoint: deps.endpoint,
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
        recordOutcomes: createRecordOutcomes({ ...recording, held, outcomes: createOutcomeStore(redis) }),
        stop: async (): Promise<void> => {
          await looks.stop()
          await limits.ended()
        },
      }
    },
  }
}
