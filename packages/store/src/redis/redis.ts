import { setTimeout as delay } from 'node:timers/promises'
import { Unavailable } from '@switchhook/contracts'
import { Cluster, type Redis as Single } from 'ioredis'
import { PROBE_KEY } from '../keys.ts'
import { connectTo, type RedisClient } from './client.ts'
import type { Log } from './log.ts'
import { fullestOf, parseMemory, type RedisMemory } from './memory.ts'
import { fateOf, isRefusal, isReply } from './reply-fate.ts'
import { loadScripts, type ScriptName, type ScriptReplies } from './scripts.ts'
import { DURABILITY_SETTINGS, type DurabilitySettings, problemsOf } from './server.ts'

/** How the stores of this package reach Redis; not exported from its door, so that every key has its home here. */
export const run = Symbol('run')

/** A connection that comes back by itself. While it is away, whatever needs it rejects with Unavailable, at once. */
export interface Redis {
  /** Connected, and Redis has loaded its data. */
  isReady(): boolean
  /**
   * Resolves when Redis is connected (again) and takes writes; rejects once closed.
   * @param options mayBeFull: resolve as well when memory is all that it lacks
   */
  ready(options?: { readonly mayBeFull: boolean }): Promise<void>
  /**
   * What makes this Redis unfit to hold what must not be lost, one sentence each. Empty when it is fit, and when it does
   * not permit the question, as managed ones do.
   */
  durabilityProblems(): Promise<string[]>
  /** Of a cluster, the memory of its fullest primary; undefined when Redis does not say. */
  memory(): Promise<RedisMemory | undefined>
  /** Waits for the replies that are due, then disconnects. */
  close(): Promise<void>
  /**
   * Does nothing but send commands.
   * @throws Unavailable when Redis cannot be reached, does not answer in time or says that it is in no state to; its
   * `fate` says whether the command that failed may have been executed
   * @throws RedisRefusal when it refuses these very commands: trying again would not help
   */
  readonly [run]: <T>(action: (commands: Commands) => Promise<T>) => Promise<T>
}

/** Redis answered with an error that tells of a fault in the command or in what is stored, not of its own state. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal'
}

type Commands = Single & {
  runScript<Name extends ScriptName>(
    name: Name,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<ScriptReplies[Name]>
}

/** Bounds how long a caller can hang on a Redis that accepts connections and answers nothing. */
const COMMAND_TIMEOUT_MS = 3_000
/** A connection that owes an answer for so long is dropped: TCP itself would keep it for a quarter of an hour. */
const SOCKET_TIMEOUT_MS = 6_000
const LONGEST_RECONNECT_WAIT_MS = 2_000
const REMIND_MS = 30_000

/** Connects, for ever if need be: a Redis that is not there yet is waited for, and the log says so at warn. */
export async function openRedis(options: {
  /** Several: sentinels, or nodes of one cluster. */
  readonly url: string | readonly string[]
  readonly log: Log
  readonly name: string
  /** Resolve even while Redis is over `maxmemory`: for a service that reads, and whose work frees memory. */
  readonly mayBeFull?: boolean
}): Promise<Redis> {
  const client = connectTo(options.url, {
    connection: {
      connectionName: options.name,
      commandTimeout: COMMAND_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      connectTimeout: COMMAND_TIMEOUT_MS,
      disconnectTimeout: 500,
      maxLoadingRetryTime: 1_000,
      maxRetriesPerRequest: 0,
      // A primary that was demoted keeps its connections; the address may lead to the new one.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    },
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), LONGEST_RECONNECT_WAIT_MS),
    scripts: loadScripts(),
  })
  const closing = new AbortController()
  const redis = wrap(client, closing, watch(client, closing.signal, options))
  await redis.ready({ mayBeFull: options.mayBeFull ?? false })
  return redis
}

/** Logs the beginning, the duration and the end of an outage, not each attempt. Returns how to report trouble. */
function watch(
  client: RedisClient,
  closing: AbortSignal,
  { log, name }: { log: Log; name: string },
): (error: unknown) => void {
  let toldAt: number | undefined
  const trouble = (error: unknown): void => {
    if (closing.aborted || (toldAt !== undefined && Date.now() - toldAt < REMIND_MS)) return
    toldAt = Date.now()
    // With several addresses for a host, each failure is inside and the message is empty.
    const first: unknown = error instanceof AggregateError ? error.errors[0] : error
    log.warn('waiting for Redis', { connection: name, error: withoutArguments(first) })
  }
  client.on('error', trouble)
  client.on('close', () => trouble(new Error('the connection was closed')))
  client.on('ready', () => {
    if (toldAt !== undefined) log.info('Redis is back', { connection: name })
    toldAt = undefined
  })
  return trouble
}

function wrap(client: RedisClient, closing: AbortController, trouble: (error: unknown) => void): Redis {
  const commands = withScripts(client)

  const send: Redis[typeof run] = async (action) => {
    if (client.status !== 'ready' || closing.signal.aborted) {
      throw new Unavailable('redis', 'Redis cannot be reached', { fate: 'not-executed' })
    }
    try {
      return await action(commands)
    } catch (error) {
      const cause = withoutArguments(error)
      if (isRefusal(cause)) throw new RedisRefusal(`Redis refused a command: ${cause.message}`, { cause })
      throw new Unavailable('redis', 'Redis did not carry out a command', { cause, fate: fateOf(cause) })
    }
  }

  let closed: Promise<void> | undefined
  return {
    [run]: send,
    isReady: () => client.status === 'ready' && !closing.signal.aborted,
    async ready({ mayBeFull } = { mayBeFull: false }) {
      for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, LONGEST_RECONNECT_WAIT_MS)) {
        if (closing.signal.aborted) throw new Unavailable('redis', 'the connection to Redis was closed by this process')
        try {
          await send((redis) => redis.set(PROBE_KEY, '', 'PX', 1_000))
          return
        } catch (error) {
          if (mayBeFull && isFull(error)) return
          // Connected, but full, read-only or unable to write its log: as bad as away.
          if (client.status === 'ready') trouble(error instanceof Error ? error.cause : error)
        }
        await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined)
      }
    },
    durabilityProblems: async () => problemsOf(await settingsOf(send)),
    async memory() {
      const nodes = client instanceof Cluster ? client.nodes('master') : [client]
      const answers = await send(() => Promise.all(nodes.map((node) => node.info('memory'))))
      return fullestOf(answers.map(parseMemory).filter((memory) => memory !== undefined))
    },
    close() {
      closing.abort()
      closed ??= disconnect(client)
      return closed
    },
  }
}

async function disconnect(client: RedisClient): Promise<void> {
  if (client.status !== 'ready') return client.disconnect()
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  await client.quit().catch(() => client.disconnect())
  await ended
}

const isFull = (error: unknown): boolean =>
  error instanceof Unavailable && isReply(error.cause) && error.cause.message.startsWith('OOM')

/** The library notes on an error the command that failed, with its arguments: bodies, urls, the password itself. */
function withoutArguments(error: unknown): unknown {
  if (error instanceof Error) Reflect.deleteProperty(error, 'command')
  return error
}

function withScripts(client: RedisClient): Commands {
  const scripts = client as unknown as Record<ScriptName, (keyCount: number, ...rest: unknown[]) => Promise<unknown>>
  // A cluster has the same commands.
  return Object.assign(client as Single, {
    runScript: (name: ScriptName, keys: readonly string[], args: readonly unknown[]) =>
      scripts[name](keys.length, ...keys, ...args),
  }) as Commands
}

async function settingsOf(send: Redis[typeof run]): Promise<DurabilitySettings> {
  const values = await send((redis) => Promise.all(DURABILITY_SETTINGS.map((name) => setting(redis, name))))
  return Object.fromEntries(DURABILITY_SETTINGS.map((name, i) => [name, values[i]]))
}

/** undefined when Redis does not permit the question. */
async function setting(redis: Commands, name: string): Promise<string | undefined> {
  try {
    const [, value] = (await redis.config('GET', name)) as (string | undefined)[]
    return value
  } catch (error) {
    if (isReply(error)) return undefined
    throw error
  }
}
