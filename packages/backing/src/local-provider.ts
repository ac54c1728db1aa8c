import type { Home } from './home.ts'
import { installWithApt } from './install-with-apt.ts'
import { rabbitmqBinary, startPrivateRabbitmq, stopPrivateRabbitmq } from './private-rabbitmq.ts'
import { redisBinary, startPrivateRedis, stopPrivateRedis } from './private-redis.ts'
import { type Say, withProgress } from './process/progress.ts'
import { type BackingName, type BackingProvider, BackingUnavailable, startWanted } from './provider.ts'

const PROGRAMS: Readonly<
  Record<BackingName, { readonly find: () => string | undefined; readonly aptPackage: string }>
> = {
  rabbitmq: { find: rabbitmqBinary, aptPackage: 'rabbitmq-server' },
  redis: { find: redisBinary, aptPackage: 'redis-server' },
}

/**
 * Private instances of what is installed on this machine, on free ports of loopback, data in the home. Whoever throws
 * the data away afterwards need not wait for an orderly end: `stopGraceMs` 0.
 */
export function localProvider(home: Home, say: Say, options: { readonly stopGraceMs?: number } = {}): BackingProvider {
  const stop = async (): Promise<void> => {
    await Promise.all([stopPrivateRabbitmq(home, options.stopGraceMs), stopPrivateRedis(home, options.stopGraceMs)])
  }
  return {
    name: 'local',
    // What is not installed can perhaps be installed.
    missing: async () => undefined,
    start: async (wanted) => {
      const missing = wanted.filter((name) => PROGRAMS[name].find() === undefined)
      if (missing.length > 0)
        await installWithApt(
          missing.map((name) => PROGRAMS[name].aptPackage),
          say,
        )
      const starters = {
        rabbitmq: () => withProgress(say, 'RabbitMQ is starting', startPrivateRabbitmq(home, program('rabbitmq'))),
        redis: () => withProgress(say, 'Redis is starting', startPrivateRedis(home, program('redis'))),
      }
      return startWanted(wanted, starters, stop)
    },
    stop,
  }
}

function program(name: BackingName): string {
  const { find, aptPackage } = PROGRAMS[name]
  const found = find()
  if (found === undefined) throw new BackingUnavailable(`${aptPackage} is installed, but its program was not found`)
  return found
}
