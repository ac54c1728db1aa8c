import { type Broker, dueQueues, Queue } from '@switchhook/messaging'
import { type Logger, type Poll, startPoll } from '@switchhook/runtime'
import { createHeldVisits, type Redis } from '@switchhook/store'
import { createVisitHeld, type HeldVisitsDeps } from './visit-held.ts'

interface VisitsDeps extends Omit<HeldVisitsDeps, 'visits' | 'publish' | 'waiting'> {
  readonly redis: Redis
  readonly broker: Pick<Broker, 'publishYielding' | 'queueDepths'>
  /** Shards of the due queues. */
  readonly shards: number
  readonly log: Logger
}

const VISITS_EVERY_MS = 1_000

/** Lets held deliveries go on. A lease that ends takes the stages of `conclude`. */
export function startVisits({ redis, broker, shards, ...deps }: VisitsDeps): Poll {
  async function waiting() {
    const [yielding = 0, ...due] = await broker.queueDepths([Queue.yielding, ...dueQueues(shards)])
    return { yielding, due: due.reduce((sum, ready) => sum + ready, 0) }
  }
  const visitHeld = createVisitHeld({
    ...deps,
    visits: createHeldVisits(redis),
    publish: broker.publishYielding,
    waiting,
  })
  return startPoll(VISITS_EVERY_MS, visitHeld, (error) =>
    deps.log.warn('due visits to held deliveries cannot be read; retrying', { error }),
  )
}
