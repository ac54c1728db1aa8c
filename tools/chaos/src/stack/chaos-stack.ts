import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { controlPrivateRabbitmq, type Home, openHome, runningPid, type Say, waitUntil } from '@switchhook/backing'
import { type StackFile, type StackOptions, startStack, stopStack } from '@switchhook/local'
import { startTcpProxy, type TcpProxy } from '@switchhook/testkit'
import { type Backing, REPLICAS } from './plan.ts'

/** A stack whose parts can be struck, each alone. */
export interface ChaosStack {
  /** Base urls of the api replicas. */
  apis(): readonly string[]
  readonly devIdp: string
  /** Through the wire, as the services reach it. */
  readonly amqpUrl: string
  managementUrl(): string
  /** Proxies between the services and the broker or Redis. */
  readonly wires: Readonly<Record<Backing, TcpProxy>>
  /** Ends a process and resolves once it is gone; answers whether it ran. */
  end(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean>
  /** Starts again what was ended, and resolves when it is ready. `more` is added to the environment of what is started. */
  restore(name: string, more?: NodeJS.ProcessEnv): Promise<void>
  /** Directly, not through the wire. */
  redisUrl(): string
  /** Where Redis keeps its data; undefined where that is out of reach. */
  readonly redisFolder: string | undefined
  /** Undefined where the broker's own command is out of reach. */
  readonly rabbitmqctl: ((args: readonly string[]) => Promise<boolean>) | undefined
  /** Services that do not say that they are ready. */
  notReady(): Promise<readonly string[]>
  /** Processes that ended without being struck, and services that did not come up; checked at every restoring too. */
  deaths(): Promise<readonly string[]>
  stop(): Promise<void>
}

/** A process has to be gone this long after SIGTERM. */
const GONE_WITHIN_MS = 15_000
const START_TRIES = 3
/** The load is one client that sends more than any limit allows. */
const COUNTED_ONLY = '999999999/1m'

const isBacking = (name: string): name is Backing => name === 'rabbitmq' || name === 'redis'

/**
 * Two stacks of the local runner, from nothing: one of broker and Redis alone, and one of the services, which find both
 * behind a wire.
 */
export async function startChaosStack(folder: string, env: NodeJS.ProcessEnv, say: Say): Promise<ChaosStack> {
  const none = { api: 0, fanout: 0, 'delivery-worker': 0 }
  const below: StackOptions = { home: join(folder, 'backing'), apiPort: 0, idpPort: 0, replicas: none }
  const above: StackOptions = { ...below, home: join(folder, 'services'), replicas: REPLICAS }
  const discard = async (): Promise<void> => {
    await stopStack(above.home, say, { discardData: true })
    await stopStack(below.home, say, { discardData: true })
  }
  await discard()

  // Both are going to be killed, so a broker or Redis that others may use is never taken.
  const backingEnv = { ...env, AMQP_URL: '', REDIS_URL: '', MANAGEMENT_URL: '' }
  const wires: TcpProxy[] = []
  try {
    let backing = await startStack(below, backingEnv, say)
    const [rabbitmq, redis] = await Promise.all([startTcpProxy(backing.urls.amqp), startTcpProxy(backing.urls.redis)])
    wires.push(rabbitmq, redis)
    const servicesEnv = { RATE_LIMIT: COUNTED_ONLY, ...env, AMQP_URL: rabbitmq.url, REDIS_URL: redis.url }
    let services = await startStack(above, servicesEnv, say)

    const backingPart = openPart(backing, false, async () => {
      backing = await startStack(below, backingEnv, silent)
      // A process whose port was taken while it was down has another one now.
      rabbitmq.aim(backing.urls.amqp)
      redis.aim(backing.urls.redis)
    })
    const servicesPart = openPart(services, true, async (more) => {
      services = await startStack(above, { ...servicesEnv, ...more }, silent)
    })
    const partOf = (name: string): Part => (isBacking(name) ? backingPart : servicesPart)

    return {
      apis: () => services.urls.apis,
      devIdp: services.urls.devIdp,
      amqpUrl: rabbitmq.url,
      managementUrl: () => {
        if (backing.urls.rabbitmqManagement === null) throw new Error('this broker has no management API')
        return backing.urls.rabbitmqManagement
      },
      wires: { rabbitmq, redis },
      end: (name, signal) => partOf(name).end(name, signal),
      restore: (name, more) => partOf(name).restore(more),
      redisUrl: () => backing.urls.redis,
      redisFolder: backing.rungs.redis === 'local' ? join(backingPart.home.dataDir, 'redis') : undefined,
      rabbitmqctl:
        backing.rungs.rabbitmq === 'local' ? (args) => controlPrivateRabbitmq(backingPart.home, args) : undefined,
      notReady: () => notReady(services),
      deaths: async () => (await Promise.all([backingPart.deaths(), servicesPart.deaths()])).flat(),
      stop: async () => {
        await stopStack(above.home, say, { discardData: true })
        await Promise.all(wires.map((wire) => wire.close()))
        await discard()
      },
    }
  } catch (error) {
    await Promise.all(wires.map((wire) => wire.close()))
    await discard()
    throw error
  }
}

const silent = (): void => {}

interface Part {
  readonly home: Home
  end(name: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean>
  restore(more?: NodeJS.ProcessEnv): Promise<void>
  deaths(): Promise<readonly string[]>
}

/** One of the two stacks. `start` starts whatever of it is not running; a failed start is reported if `judged`. */
function openPart(stack: StackFile, judged: boolean, start: (more: NodeJS.ProcessEnv) => Promise<void>): Part {
  const home = openHome(stack.home)
  const names = Object.keys(stack.processes)
  const struck = new Set<string>()
  const deaths: string[] = []
  let restoring = Promise.resolve()

  async function noteDeaths(): Promise<void> {
    for (const name of names) {
      if (struck.has(name) || (await runningPid(home, name)) !== undefined) continue
      deaths.push(`${name} ended by itself (${new Date().toISOString()})`)
      struck.add(name)
    }
  }

  async function startAgain(more: NodeJS.ProcessEnv): Promise<void> {
    await noteDeaths()
    for (let tries = 1; ; tries++) {
      try {
        await start(more)
        break
      } catch (error) {
        if (tries === START_TRIES) throw error
        // A failed start of the broker or Redis is not a fault of Switchhook: a port may have been taken.
        if (judged) deaths.push(`did not start: ${messageOf(error)}`)
        await sleep(1_000)
      }
    }
    for (const name of struck) if ((await runningPid(home, name)) !== undefined) struck.delete(name)
  }

  return {
    home,
    end: async (name, signal) => {
      const pid = await runningPid(home, name)
      if (pid === undefined) return false
      struck.add(name)
      process.kill(pid, signal)
      const isGone = async (): Promise<boolean> => (await runningPid(home, name)) !== pid
      if (!(await waitUntil(isGone, GONE_WITHIN_MS, 10))) {
        deaths.push(`${name} did not end on ${signal}`)
        process.kill(pid, 'SIGKILL')
        await waitUntil(isGone, GONE_WITHIN_MS, 10)
      }
      return true
    },
    restore: (more = {}) => {
      // One at a time: two would both start the same process.
      const before = restoring.catch(() => {})
      restoring = before.then(() => startAgain(more))
      return restoring
    },
    deaths: async () => {
      await noteDeaths()
      return deaths
    },
  }
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('\n')
  return error instanceof Error ? error.message : String(error)
}

async function notReady({ healthPorts }: StackFile): Promise<readonly string[]> {
  const asked = await Promise.all(
    Object.entries(healthPorts).map(async ([name, port]) => {
      const signal = AbortSignal.timeout(2_000)
      const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).then(
        ({ ok }) => ok,
        () => false,
      )
      return isReady ? [] : [name]
    }),
  )
  return asked.flat()
}
