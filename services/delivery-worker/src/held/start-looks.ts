import { type Broker, dueQueues, Queue } from '@switchhook/messaging'
import { type Logger, type Poll, startPoll } from '@switchhook/runtime'
import { createHeldLooks, type Redis } from '@switchhook/store'
import { createLookAtHeld, type HeldLooksDeps } from './look-at-held.ts'

interface LooksDeps extends Omit<HeldLooksDeps, 'looks' | 'publish' | 'waiting'> {
  readonly redis: Redis
  readonly broker: Pick<Broker, 'publishYielding' | 'queueDepths'>
  /** Shards of the due queues. */
  readonly shards: number
  readonly log: Logger
}

const LOOKS_EVERY_MS = 1_000

/** Lets held deliveries go on. A lease that ends takes the steps of `conclude`. */
export function startLooks({ redis, broker, shards, ...deps }: LooksDeps): Poll {
  async function waiting() {
    const [yielding, ...due] = await broker.queueDepths([Queue.yielding, ...dueQueues(shards)])
    return { yielding: yielding?.ready ?? 0, due: due.reduce((sum, queue) => sum + (queue?.ready ?? 0), 0) }
  }
  const look = createLookAtHeld({ ...deps, looks: createHeldLooks(redis), publish: broker.publishYielding, waiting })
  return startPoll(LOOKS_EVERY_MS, look, (error) =>
    deps.log.warn('due looks at held deliveries cannot be read; retrying', { error }),
  )
}
