export type BackingName = 'rabbitmq' | 'redis'

/** A command that evaluates the Erlang code of its standard input in a broker. */
export interface RabbitmqControl {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

export interface RabbitmqAddress {
  readonly amqpUrl: string
  /** Base URL of the management HTTP API, with credentials; null if unknown. */
  readonly managementUrl: string | null
  /** The URL of the plugin rabbitmq_prometheus, if known. */
  readonly metricsUrl?: string
  /** Absent for a broker that was started elsewhere. */
  readonly control?: RabbitmqControl
}

export interface RedisAddress {
  readonly redisUrl: string
}

export interface Addresses {
  readonly rabbitmq?: RabbitmqAddress
  readonly redis?: RedisAddress
}

/** One way to get RabbitMQ and Redis: containers, or programs of this machine. */
export interface BackingProvider {
  readonly name: 'docker' | 'local'
  /** Returns why this provider cannot be tried, in a few words, or undefined if it can. */
  missing(): Promise<string | undefined>
  /**
   * Starts the wanted servers that are not running: all of them or none.
   * @throws BackingUnavailable
   */
  start(wanted: readonly BackingName[]): Promise<Addresses>
  /** Stops the servers that this process or an earlier one started. */
  stop(): Promise<void>
}

/** A provider cannot be used on this machine. The message gives the reason. */
export class BackingUnavailable extends Error {
  override readonly name = 'BackingUnavailable'
}

/** Starts both servers at the same time. If one fails, calls `stop`, which also stops the other. */
export async function startWanted(
  wanted: readonly BackingName[],
  starters: { readonly rabbitmq: () => Promise<RabbitmqAddress>; readonly redis: () => Promise<RedisAddress> },
  stop: () => Promise<void>,
): Promise<Addresses> {
  const [rabbitmq, redis] = await Promise.allSettled([
    wanted.includes('rabbitmq') ? starters.rabbitmq() : undefined,
    wanted.includes('redis') ? starters.redis() : undefined,
  ])
  if (rabbitmq.status === 'fulfilled' && redis.status === 'fulfilled') {
    return { ...(rabbitmq.value && { rabbitmq: rabbitmq.value }), ...(redis.value && { redis: redis.value }) }
  }
  await stop()
  throw [rabbitmq, redis].find((result) => result.status === 'rejected')?.reason
}
