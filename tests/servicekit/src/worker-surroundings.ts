import { join } from 'node:path'
import type { InstallationId, Subscription } from '@switchhook/contracts'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { createSubscriptionStore, openRedis } from '@switchhook/store'
import { repository } from '@switchhook/test-servers'
import {
  aSubscription,
  type ServiceProcess,
  silentLog,
  startReceiver,
  startServiceProcess,
  testBroker,
  testRedis,
  unverified,
} from '@switchhook/testkit'

export type WorkerSurroundings = Awaited<ReturnType<typeof startWorkerSurroundings>>

/** Gives each test of a file surroundings of its own. Call it at the top of the file; `started` is called before each test. */
export function useWorkerSurroundings(started: (surroundings: WorkerSurroundings) => void): void {
  let surroundings: WorkerSurroundings
  beforeEach(async () => {
    surroundings = await startWorkerSurroundings()
    started(surroundings)
  })
  afterEach(() => surroundings.close())
}

/** Everything around a worker, for real: RabbitMQ, Redis and a receiver. */
async function startWorkerSurroundings() {
  const [rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  const redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
  const workers: ServiceProcess[] = []
  const brokers: Broker[] = []
  return {
    rabbit,
    redisServer,
    /** A connection of the test to `redisServer`. */
    redis,
    receiver,
    /** Starts a worker in its own process. It may contact the receiver. */
    startWorker: async (env?: Readonly<Record<string, string>>): Promise<ServiceProcess> => {
      const worker = await startServiceProcess(join(repository, 'services/delivery-worker/src/main.ts'), {
        AMQP_URL: rabbit.amqpUrl,
        REDIS_URL: redisServer.redisUrl,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        ...env,
      })
      workers.push(worker)
      return worker
    },
    /**
     * Opens a connection to `rabbit` that the test publishes with.
     * @param options `installation`: the id in its messages; absent: none. `shards`: of `delivery.due`
     */
    openBroker: async (options: { readonly installation?: InstallationId; readonly shards?: number } = {}) => {
      const { installation, shards = 1 } = options
      const broker = await openBroker({
        url: rabbit.amqpUrl,
        topology: serviceTopology([], { deliveryShards: shards }),
        log: silentLog,
        name: 'test',
        ...(installation !== undefined && { installation: () => installation }),
      })
      brokers.push(broker)
      return broker
    },
    /** Stores a subscription of `acme` to a path of the receiver. */
    subscribe: (path: string, eventTypes: Subscription['eventTypes'] = ['call.status']): Promise<Subscription> =>
      createSubscriptionStore(redis, unverified, {}).create(aSubscription({ url: receiver.url(path), eventTypes })),
    /** Kills the workers that still run, and closes everything. */
    close: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await Promise.all([...brokers.map((broker) => broker.close()), redis.close(), receiver.close()])
      await Promise.all([rabbit.close(), redisServer.close()])
    },
  }
}
