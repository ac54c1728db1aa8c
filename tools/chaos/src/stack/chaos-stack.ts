import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { managementOf, type StackOptions, stackEnvironment, startStack, stopStack } from '@switchhook/local'
import {
  controlPrivateRabbitmq,
  type Home,
  httpSucceeds,
  openHome,
  runningPid,
  waitUntil,
} from '@switchhook/test-servers'
import { startTcpProxy, type TcpProxy } from '@switchhook/testkit'
import { type Backing, REPLICAS } from '../faults/plan.ts'

export type ChaosStack = Awaited<ReturnType<typeof startChaosStack>>

type EndSignal = 'SIGTERM' | 'SIGKILL'

/** A process must have exited this long after SIGTERM. */
const GONE_WITHIN_MS = 15_000
const START_TRIES = 3

/**
 * Starts a stack whose processes and connections can be disturbed one at a time. It consists of two fresh stacks of the
 * local runner: one with RabbitMQ and Redis only, and one with the services, which reach both through a proxy.
 * @param folder is removed at the end, with anything else that is in it
 */
export async function startChaosStack(folder: string, settings: NodeJS.ProcessEnv, replicas = REPLICAS) {
  const none = { api: 0, fanout: 0, 'delivery-worker': 0 }
  const below: StackOptions = { home: join(folder, 'backing'), apiPort: 0, idpPort: 0, replicas: none }
  const above: StackOptions = { ...below, home: join(folder, 'services'), replicas }
  const proxies: TcpProxy[] = []
  const stop = async (): Promise<void> => {
    await stopStack(above.home, console.log, { discardData: true })
    await Promise.all(proxies.map((proxy) => proxy.close()))
    await stopStack(below.home, console.log, { discardData: true })
    rmSync(folder, { recursive: true, force: true })
  }
  await stop()
  await using starting = new AsyncDisposableStack()
  starting.defer(stop)

  // Faults kill both, so servers that are given by URL and may be shared are never used.
  const env = { ...stackEnvironment(process.env), ...settings }
  const backingEnv = { ...env, AMQP_URL: '', REDIS_URL: '', MANAGEMENT_URL: '' }
  let backing = await startStack(below, backingEnv, console.log)
  const [rabbitmq, redis] = await Promise.all([startTcpProxy(backing.urls.amqp), startTcpProxy(backing.urls.redis)])
  proxies.push(rabbitmq, redis)
  const servicesEnv = { ...env, AMQP_URL: rabbitmq.url, REDIS_URL: redis.url }
  let services = await startStack(above, servicesEnv, console.log)

  const backingPart = openPart(openHome(backing.home), Object.keys(backing.processes), false, async () => {
    backing = await startStack(below, backingEnv, silent)
    // A port that was taken during the downtime has been replaced by another one.
    rabbitmq.aim(backing.urls.amqp)
    redis.aim(backing.urls.redis)
  })
  const servicesPart = openPart(openHome(services.home), Object.keys(services.processes), true, async (more) => {
    services = await startStack(above, { ...servicesEnv, ...more }, silent)
  })
  const partOf = (name: string) => (name === 'rabbitmq' || name === 'redis' ? backingPart : servicesPart)
  const dataFolder = (of: Backing, ...path: string[]): string | undefined =>
    backing.providers[of] === 'local' ? join(backingPart.home.dataDir, of, ...path) : undefined

  starting.move()
  return {
    /** Base urls of the api replicas. */
    apis: (): readonly string[] => services.urls.apis,
    devIdp: services.urls.devIdp,
    /** Through the proxy, as the services reach the broker. */
    amqpUrl: rabbitmq.url,
    managementUrl: (): string => managementOf(backing),
    /** Proxies between the services and the broker or Redis. */
    proxies: { rabbitmq, redis },
    /** Ends a process and resolves once it is gone. Returns whether it was running. */
    end: (name: string, signal: EndSignal): Promise<boolean> => partOf(name).end(name, signal),
    /** Suspends or continues a process. Returns whether it was running. */
    signal: (name: string, signal: 'SIGSTOP' | 'SIGCONT'): Promise<boolean> => partOf(name).signal(name, signal),
    /** Restarts ended processes and resolves when they are ready. `more` is added to their environment. */
    restore: (name: string, more?: NodeJS.ProcessEnv): Promise<void> => partOf(name).restore(more),
    /** The direct address, not through the proxy. */
    redisUrl: (): string => backing.urls.redis,
    /** The data folder of Redis; undefined if Redis runs in a container. */
    redisFolder: dataFolder('redis'),
    /** RabbitMQ's messages and definitions; undefined if it runs in a container. */
    rabbitmqFolder: dataFolder('rabbitmq', 'mnesia'),
    /** Runs `rabbitmqctl`; undefined if RabbitMQ runs in a container. */
    rabbitmqctl:
      backing.providers.rabbitmq === 'local'
        ? (args: readonly string[]): Promise<boolean> => controlPrivateRabbitmq(backingPart.home, args)
        : undefined,
    /** Services whose `/readyz` does not answer 200. */
    notReady: async (): Promise<readonly string[]> => {
      const asked = Object.entries(services.healthPorts).map(async ([name, port]) =>
        (await httpSucceeds(`http://127.0.0.1:${port}/readyz`)) ? [] : [name],
      )
      return (await Promise.all(asked)).flat()
    },
    /** Processes that ended although no fault ended them, and services that failed to start. Also checked at every restore. */
    unexpectedExits: async (): Promise<readonly string[]> =>
      (await Promise.all([backingPart.unexpectedExits(), servicesPart.unexpectedExits()])).flat(),
    /** Keeps the logs of the services beyond `stop`, and returns their folder. */
    keepLogs: (): string => {
      const kept = `${folder}-logs`
      rmSync(kept, { recursive: true, force: true })
      renameSync(servicesPart.home.logDir, kept)
      return kept
    },
    [Symbol.asyncDispose]: stop,
  }
}

const silent = (): void => {}

/** The processes of a home. `start` starts those that are not running; `reportsStarts` reports failed starts. */
export function openPart(
  home: Home,
  names: readonly string[],
  reportsStarts: boolean,
  start: (more: NodeJS.ProcessEnv) => Promise<void>,
) {
  const killed = new Set<string>()
  const unexpectedExits: string[] = []
  let restoring = Promise.resolve()

  async function noteUnexpectedExits(): Promise<void> {
    for (const name of names) {
      if (killed.has(name) || (await runningPid(home, name)) !== undefined) continue
      unexpectedExits.push(`${name} ended unexpectedly (${new Date().toISOString()})`)
      killed.add(name)
    }
  }

  async function startAgain(more: NodeJS.ProcessEnv): Promise<void> {
    await noteUnexpectedExits()
    for (let tries = 1; ; tries++) {
      try {
        await start(more)
        break
      } catch (error) {
        if (tries === START_TRIES) throw error
        // A failed start of RabbitMQ or Redis is no defect of Switchhook: the port may have been taken.
        if (reportsStarts) unexpectedExits.push(`did not start: ${messageOf(error)}`)
        await sleep(1_000)
      }
    }
    for (const name of killed) if ((await runningPid(home, name)) !== undefined) killed.delete(name)
  }

  return {
    home,
    end: async (name: string, signal: EndSignal): Promise<boolean> => {
      const pid = await runningPid(home, name)
      if (pid === undefined) return false
      killed.add(name)
      process.kill(pid, signal)
      const isGone = async (): Promise<boolean> => (await runningPid(home, name)) !== pid
      if (!(await waitUntil(isGone, GONE_WITHIN_MS, 10))) {
        unexpectedExits.push(`${name} did not end on ${signal}`)
        process.kill(pid, 'SIGKILL')
        await waitUntil(isGone, GONE_WITHIN_MS, 10)
      }
      return true
    },
    signal: async (name: string, signal: 'SIGSTOP' | 'SIGCONT'): Promise<boolean> => {
      const pid = await runningPid(home, name)
      return pid !== undefined && process.kill(pid, signal)
    },
    restore: (more: NodeJS.ProcessEnv = {}): Promise<void> => {
      // One restore at a time, because two would start the same process twice.
      const before = restoring.catch(() => {})
      restoring = before.then(() => startAgain(more))
      return restoring
    },
    unexpectedExits: async (): Promise<readonly string[]> => {
      await noteUnexpectedExits()
      return unexpectedExits
    },
  }
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('\n')
  return error instanceof Error ? error.message : String(error)
}
