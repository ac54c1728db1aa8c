import {
  type ConsumeOptions,
  type Consumer,
  countShards,
  declaredBy,
  openBroker,
  type Topology,
} from '@switchhook/messaging'
import { amqpAddress, redisAddress, startClockWatch } from '@switchhook/runtime'
import { assertDurable, openInstallation, openRedis } from '@switchhook/store'
import type { Service } from './start-service.ts'

/** Consumes a queue. The consumer pauses while messages or Redis belong to another installation. */
export type Consume = <Message>(options: Omit<ConsumeOptions<Message>, 'recovered'>) => Promise<Consumer>

/** Waits for an unreachable Redis or broker without a limit. @throws Error in production if Redis could lose data */
export async function openBacking(
  { name, config, log, shutdown, metrics }: Omit<Service, 'tracing'>,
  {
    topology,
    sharded,
    redisMayBeFull,
    waitForBroker,
  }: {
    readonly topology: (shards: number) => Topology
    /** The queues whose shards are counted once Redis is open. Absent: one shard. */
    readonly sharded?: Pick<Parameters<typeof countShards>[0], 'configured' | 'namesOf'>
    /** true: start with a Redis over `maxmemory`, because this service drains it. */
    readonly redisMayBeFull?: boolean
    /** false: start without the broker; publishing rejects until it is there. */
    readonly waitForBroker?: boolean
  },
) {
  const redis = await openRedis({ ...redisAddress(config), log, name, ...(redisMayBeFull && { mayBeFull: true }) })
  shutdown.defer('redis', () => redis.close())
  await assertDurable(redis, { nodeEnv: config.NODE_ENV, rule: config.REDIS_DURABILITY, log })
  const clock = await startClockWatch({ readServerMs: redis.nowMs, now: Date.now, metrics, log })
  shutdown.defer('clock', () => clock.stop())
  const installation = await openInstallation({ redis, log })
  shutdown.defer('installation', () => installation.close())
  const shards = sharded === undefined ? 1 : await countShards({ ...amqpAddress(config), log, name, ...sharded })
  const wanted = topology(shards)
  const broker = await openBroker({
    ...amqpAddress(config),
    topology: config.AMQP_DECLARE === 'own' ? declaredBy(name, wanted) : wanted,
    log,
    name,
    metrics,
    installation: installation.id,
    ...(waitForBroker === false && { waitUntilReady: false }),
  })
  shutdown.defer('broker', () => broker.close())
  const { checked, recovered } = installation
  const consume: Consume = (options) => broker.consume({ ...options, parse: checked(options.parse), recovered })
  return {
    redis,
    broker,
    installation,
    /** The configured shards, and those that an earlier configuration left on the broker. */
    shards,
    consume,
    /** The time for events: this host's clock, at most a few seconds from Redis's. */
    now: clock.now,
    /** Redis's clock, which decides what is final or must not be early, such as an expiry or the end of a pause. */
    redisNow: clock.serverNow,
    readiness: {
      redis: () => redis.isReady(),
      rabbitmq: () => broker.isReady(),
      consumers: () => broker.isConsuming(),
      clock: () => clock.isFit(),
      installation: installation.isConfirmed,
    },
  }
}
