import type { Delivery } from '@switchhook/contracts'
import type { DeliveryArchive, DeliveryStore } from '@switchhook/store'
import { aDelivery } from '@switchhook/testkit'
import { createPipeline, type Pipeline, type PipelineDeps } from '../pipeline/pipeline.ts'
import { admitIn, aReading, ok, pipelineDeps, posted } from './delivering.ts'

export const WAITS_MS = [10, 20, 30]

/** A point at which a worker can fail. `confirmed`: after the broker has confirmed the retry. */
export type Point = 'before the POST' | 'before the retry' | 'confirmed' | 'before settling' | 'settled'

/** `probed`: by another worker. */
export type EndpointIs = 'fails' | 'cooling' | 'probed'

export interface WorkerOptions {
  /** Called at each point; a rejection fails the worker there. */
  readonly at: (point: Point) => Promise<void>
  /** The state of the endpoint, until it works. */
  readonly endpoint: () => EndpointIs
}

async function settling<Settled>(at: WorkerOptions['at'], write: () => Promise<Settled>): Promise<Settled> {
  await at('before settling')
  const settled = await write()
  await at('settled')
  return settled
}

/** One delivery with its messages at the broker, its subscription, and workers over the real store. */
export function aDeliveryWorld(store: DeliveryStore & DeliveryArchive, of: Partial<Delivery> = {}) {
  const first = aDelivery(of)
  /** Those that the broker holds, in the order of arrival. */
  const messages: Delivery[] = [first]
  const posts: { attempt: number; wasEnabled: boolean }[] = []
  const subscription = { isEnabled: true, isWorking: false, isHolding: false, isDeleted: false }
  const healthIn = (state: EndpointIs) => {
    if (state === 'fails' || subscription.isWorking) return 'closed'
    return state === 'cooling' ? 'open' : 'probing'
  }

  const depsOf = ({ at, endpoint }: WorkerOptions): PipelineDeps =>
    pipelineDeps({
      scheduleOf: () => ({ waitsMs: WAITS_MS, cooldownMs: 5 }),
      isSettled: (delivery) => store.isSettled(delivery),
      // The rules of `admit`: a first attempt only while the subscription is enabled, and nothing of a deleted one, if
      // clients received it.
      admit: async (delivery) =>
        delivery.attempt === 0 && !subscription.isEnabled
          ? aReading({ kind: 'withdrawn' })
          : subscription.isDeleted
            ? aReading({ kind: 'withdrawn', ...(delivery.attempt > 0 && { wasParked: true }) })
            : subscription.isHolding
              ? aReading({ kind: 'held', visitInMs: 0 })
              : admitIn(healthIn(endpoint()))(delivery),
      post: async (delivery, attempt) => {
        await at('before the POST')
        posts.push({ attempt, wasEnabled: subscription.isEnabled })
        return posted(delivery, subscription.isWorking ? ok : { kind: 'answered', status: 503 })
      },
      publishRetry: async (delivery) => {
        await at('before the retry')
        messages.push(delivery)
        await at('confirmed')
      },
      afterSettled: [async ({ delivery, written }) => void (written ?? (await store.listAgain(delivery)))],
      settle: (...settled) => settling(at, () => store.settle(...settled)),
      nowMs: () => performance.now(),
    })

  return {
    first,
    messages,
    posts,
    set: (change: Partial<typeof subscription>) => void Object.assign(subscription, change),
    find: () => store.find(first.deliveryId),
    worker: (options: WorkerOptions): Pipeline['deliver'] => createPipeline(depsOf(options)).deliver,
    depsOf,
  }
}
