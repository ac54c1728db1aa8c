import type { Home } from './home.ts'
import { installWithApt } from './install-with-apt.ts'
import { rabbitmqBinary, startPrivateRabbitmq, stopPrivateRabbitmq } from './private-rabbitmq.ts'
import { redisBinary, startPrivateRedis } from './private-redis.ts'
import { stopDaemon } from './process/daemon.ts'
import { type Say, withProgress } from './process/progress.ts'
import { type BackingName, type BackingProvider, BackingUnavailable, startWanted } from './provider.ts'

const PROGRAMS: Readonly<
  Record<BackingName, { readonly find: () => string | undefined; readonly aptPackage: string }>
> = {
  rabbitmq: { find: rabbitmqBinary, aptPackage: 'rabbitmq-server' },
  redis: { find: redisBinary, aptPackage: 'redis-server' },
}

/**
 * Starts the RabbitMQ and Redis that are installed on this machine as private instances: on free loopback ports, with
 * their data in the home. With `stopGraceMs` 0 they are killed immediately, for callers that discard the data anyway.
 */
export function localProvider(home: Home, say: Say, options: { readonly stopGraceMs?: number } = {}): BackingProvider {
  const stop = async (): Promise<void> => {
    await Promise.all([stopPrivateRabbitmq(home, options.stopGraceMs), stopDaemon(home, 'redis', options.stopGraceMs)])
  }
  return {
    name: 'local',
    // `start` may be able to install a missing program.
    missing: async () => undefined,
    start: async (wanted) => {
      await installServers(wanted, say)
      const starters = {
        rabbitmq: () => withProgress(say, 'RabbitMQ is starting', startPrivateRabbitmq(home, program('rabbitmq'))),
        redis: () => withProgress(say, 'Redis is starting', startPrivateRedis(home, program('redis'))),
      }
      return startWanted(wanted, starters, stop)
    },
    stop,
  }
}

/**
 * Installs the servers that this machine lacks.
 * @throws BackingUnavailable
 */
export async function installServers(wanted: readonly BackingName[], say: Say): Promise<void> {
  const missing = wanted.filter((name) => PROGRAMS[name].find() === undefined)
  const packages = missing.map((name) => PROGRAMS[name].aptPackage)
  if (packages.length > 0) await installWithApt(packages, say)
}

function program(name: BackingName): string {
  const { find, aptPackage } = PROGRAMS[name]
  const found = find()
  if (found === undefined) throw new BackingUnavailable(`${aptPackage} is installed, but its program was not found`)
  return found
}
