import type { Say } from './process/progress.ts'
import {
  type Addresses,
  type BackingName,
  type BackingProvider,
  BackingUnavailable,
  type RabbitmqAddress,
  type RedisAddress,
} from './provider.ts'

export type ProviderName = 'given' | BackingProvider['name']

export interface BackingServices extends RabbitmqAddress, RedisAddress {
  /** The provider of each server; `given` if its URL was set in the environment. */
  readonly providers: Readonly<Record<BackingName, ProviderName>>
  /** Stops the servers that were started, but not those that were given. */
  stop(): Promise<void>
}

export interface BackingOptions {
  /** Reads `AMQP_URL`, `MANAGEMENT_URL` and `REDIS_URL`, and `BACKING`, which allows one provider only. */
  readonly env: NodeJS.ProcessEnv
  readonly docker: BackingProvider
  readonly local: BackingProvider
  readonly say: Say
}

/**
 * Starts RabbitMQ and Redis with the first option that works: given URLs, Docker, or programs of this machine, which are
 * installed with apt if necessary.
 * @throws BackingUnavailable with instructions if no option works
 */
export async function startBackingServices(options: BackingOptions): Promise<BackingServices> {
  const given = givenAddresses(options.env)
  const wanted = (['rabbitmq', 'redis'] as const).filter((name) => given[name] === undefined)
  const { provider, addresses } =
    wanted.length > 0 ? await startWithFirstProvider(options, wanted) : { provider: undefined, addresses: {} }
  const { rabbitmq, redis } = { ...addresses, ...given }
  if (rabbitmq === undefined || redis === undefined) throw new Error('the provider did not start every wanted server')
  const providerName = (name: BackingName): ProviderName =>
    given[name] === undefined ? (provider?.name ?? 'given') : 'given'
  return {
    ...rabbitmq,
    ...redis,
    providers: { rabbitmq: providerName('rabbitmq'), redis: providerName('redis') },
    stop: async () => provider?.stop(),
  }
}

function givenAddresses(env: NodeJS.ProcessEnv): Addresses {
  const { AMQP_URL: amqpUrl, MANAGEMENT_URL: managementUrl, REDIS_URL: redisUrl } = env
  return {
    ...(amqpUrl && { rabbitmq: { amqpUrl, managementUrl: managementUrl || guessManagementUrl(amqpUrl) } }),
    ...(redisUrl && { redis: { redisUrl } }),
  }
}

/** The default address of the management API, with the same user. For a cluster, that of the first node. */
function guessManagementUrl(amqpUrl: string): string | null {
  const [first = ''] = amqpUrl.split(/,(?=amqps?:)/)
  if (!URL.canParse(first)) return null
  const { username, password, hostname } = new URL(first)
  return `http://${username || 'guest'}:${password || 'guest'}@${hostname || '127.0.0.1'}:15672`
}

async function startWithFirstProvider(
  options: BackingOptions,
  wanted: readonly BackingName[],
): Promise<{ readonly provider: BackingProvider; readonly addresses: Addresses }> {
  const reasons: string[] = []
  for (const provider of allowedProviders(options)) {
    const missing = await provider.missing()
    if (missing !== undefined) {
      reasons.push(`  ${provider.name}: ${missing}`)
      continue
    }
    try {
      return { provider, addresses: await provider.start(wanted) }
    } catch (error) {
      if (!(error instanceof BackingUnavailable)) throw error
      options.say(`${provider.name} not used: ${error.message}`)
      reasons.push(`  ${provider.name}: ${error.message}`)
    }
  }
  throw new BackingUnavailable(whatToDo(wanted, reasons))
}

function allowedProviders({ env, docker, local }: BackingOptions): readonly BackingProvider[] {
  const only = env['BACKING'] || undefined
  const providers = [docker, local].filter(({ name }) => only === undefined || name === only)
  if (providers.length === 0) throw new BackingUnavailable('BACKING must be docker or local, or not be set')
  return providers
}

const ADVICE: Readonly<Record<BackingName, { readonly url: string; readonly aptPackage: string }>> = {
  rabbitmq: { url: 'AMQP_URL=amqp://user:password@127.0.0.1:5672', aptPackage: 'rabbitmq-server' },
  redis: { url: 'REDIS_URL=redis://127.0.0.1:6379', aptPackage: 'redis-server' },
}

function whatToDo(wanted: readonly BackingName[], reasons: readonly string[]): string {
  const packages = wanted.map((name) => ADVICE[name].aptPackage).join(' ')
  return [
    `Cannot start ${wanted.join(' and ')} on this machine:`,
    ...reasons,
    'Do one of the following, then run the same command again:',
    `  * start a Docker engine that this user may access`,
    `  * install the packages, for example: sudo apt-get install --no-install-recommends ${packages}`,
    `  * use existing servers: ${wanted.map((name) => ADVICE[name].url).join(' ')}`,
  ].join('\n')
}
