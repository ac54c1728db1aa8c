export type BackingName = 'rabbitmq' | 'redis'

/** How a broker's own command-line tool is called, up to its arguments. */
export interface RabbitmqControl {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

export interface RabbitmqAddress {
  readonly amqpUrl: string
  /** Base url of the management HTTP API with its credentials; null when there is none that we know of. */
  readonly managementUrl: string | null
  /** Where its plugin rabbitmq_prometheus answers; missing where we do not know. */
  readonly metricsUrl?: string
  /** Missing for a broker that was started elsewhere. */
  readonly control?: RabbitmqControl
}

export interface RedisAddress {
  readonly redisUrl: string
}

export interface Addresses {
  readonly rabbitmq?: RabbitmqAddress
  readonly redis?: RedisAddress
}

/** One way of getting a broker and a Redis. */
export interface BackingProvider {
  readonly name: 'docker' | 'local'
  /** What is missing for this way to be worth a try, in a few words; undefined when nothing is. */
  missing(): Promise<string | undefined>
  /** Starts what is wanted and does not run yet: all of it or, rejecting with BackingUnavailable, nothing. */
  start(wanted: readonly BackingName[]): Promise<Addresses>
  /** Stops what was started here, by this process or an earlier one. */
  stop(): Promise<void>
}

/** This way is not open on this machine; the message says why, in one line. */
export class BackingUnavailable extends Error {
  override readonly name = 'BackingUnavailable'
}

/** The start of a provider whose two services start apart: both at once, and if one fails, `stop` takes the other with it. */
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
