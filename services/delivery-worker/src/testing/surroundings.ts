import { join } from 'node:path'
import type { InstallationId, Subscription } from '@switchhook/contracts'
import { type Broker, openBroker, serviceTopology } from '@switchhook/messaging'
import { createSubscriptionStore, openRedis, type Redis } from '@switchhook/store'
import {
  type Receiver,
  type ServiceProcess,
  silentLog,
  startReceiver,
  startServiceProcess,
  type TestBroker,
  type TestRedis,
  testBroker,
  testRedis,
} from '@switchhook/testkit'
import { aSubscription } from './deliveries.ts'

/** Everything around a worker, for real: RabbitMQ, Redis and a receiver. */
export interface Surroundings {
  readonly rabbit: TestBroker
  readonly redisServer: TestRedis
  /** A connection of the test to `redisServer`. */
  readonly redis: Redis
  readonly receiver: Receiver
  /** Starts a worker in its own process. It may contact the receiver. */
  readonly startWorker: (env?: Readonly<Record<string, string>>) => Promise<ServiceProcess>
  /**
   * Opens a connection to `rabbit` that the test publishes with.
   * @param options `installation`: the id in its messages; absent: none. `shards`: of `delivery.due`
   */
  readonly openBroker: (options?: {
    readonly installation?: InstallationId
    readonly shards?: number
  }) => Promise<Broker>
  /** Stores a subscription of `acme` to a path of the receiver. */
  readonly subscribe: (path: string, eventTypes?: Subscription['eventTypes']) => Promise<Subscription>
  /** Kills the workers that still run, and closes everything. */
  readonly close: () => Promise<void>
}

/** Gives each test of a file surroundings of its own. Call it at the top of the file; `started` is called before each test. */
export function useSurroundings(started: (surroundings: Surroundings) => void): void {
  let surroundings: Surroundings
  beforeEach(async () => {
    surroundings = await startSurroundings()
    started(surroundings)
  })
  afterEach(() => surroundings.close())
}

async function startSurroundings(): Promise<Surroundings> {
  const [rabbit, redisServer, receiver] = await Promise.all([testBroker(), testRedis(), startReceiver()])
  const redis = await openRedis({ url: redisServer.redisUrl, log: silentLog, name: 'test' })
  const workers: ServiceProcess[] = []
  const brokers: Broker[] = []
  return {
    rabbit,
    redisServer,
    redis,
    receiver,
    startWorker: async (env) => {
      const worker = await startServiceProcess(join(import.meta.dirname, '../main.ts'), {
        AMQP_URL: rabbit.amqpUrl,
        REDIS_URL: redisServer.redisUrl,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        ...env,
      })
      workers.push(worker)
      return worker
    },
    openBroker: async ({ installation, shards = 1 } = {}) => {
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
    subscribe: (path, eventTypes = ['call.status']) =>
      createSubscriptionStore(redis).create(aSubscription({ url: receiver.url(path), eventTypes })),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.kill()))
      await Promise.all([...brokers.map((broker) => broker.close()), redis.close(), receiver.close()])
      await Promise.all([rabbit.close(), redisServer.close()])
    },
  }
}
