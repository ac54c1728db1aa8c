import { type Delivery, parseDelivery } from '@switchhook/contracts'
import { openBroker, Queue, serviceTopology } from '@switchhook/messaging'
import { createDeliveryStore, type DeliveryStore, openRedis } from '@switchhook/store'
import { silentLog, UNLIMITED, unscheduled, unverified } from '@switchhook/testkit'
import type { Surroundings } from './surroundings.ts'

export type WorkerStub = Awaited<ReturnType<typeof startWorkerStub>>

const HOUR_MS = 3_600_000
const RETENTION = { finishedRetentionMs: HOUR_MS, parkedRetentionMs: HOUR_MS, scheduleOf: unscheduled }

/**
 * Stands in for the workers: takes the deliveries that are published, and has the store that workers write to.
 * @param handle is called after each delivery was added to `due`. Absent: the delivery stays without a result
 */
export async function startWorkerStub(
  { broker: { amqpUrl }, redis: { redisUrl } }: Pick<Surroundings<string>, 'broker' | 'redis'>,
  handle: (delivery: Delivery, store: DeliveryStore) => Promise<unknown> = async () => {},
) {
  const redis = await openRedis({ url: redisUrl, log: silentLog, name: 'worker' })
  const broker = await openBroker({ url: amqpUrl, topology: serviceTopology([]), log: silentLog, name: 'worker' })
  const store = createDeliveryStore(redis, RETENTION, UNLIMITED, unverified)
  const due: Delivery[] = []
  const yielding = new Set<Delivery>()
  for (const queue of [Queue.deliveryDue, Queue.yielding]) {
    await broker.consume({
      queue,
      parse: ({ content, headers }) => parseDelivery(content, headers),
      handle: async (delivery) => {
        due.push(delivery)
        if (queue === Queue.yielding) yielding.add(delivery)
        await handle(delivery, store)
      },
      concurrency: 10,
      recovered: async () => {},
    })
  }
  return {
    redis,
    store,
    /** The deliveries that it took since `due` was emptied, in order. */
    due,
    /** Those of them that give way to others. */
    yielding: yielding as ReadonlySet<Delivery>,
    close: async (): Promise<void> => {
      await broker.close()
      await redis.close()
    },
  }
}
