import { setTimeout as delay } from 'node:timers/promises'
import { Unavailable } from '@switchhook/contracts'
import { isCertificateError, type Logger, oncePerTick } from '@switchhook/runtime'
import { Cluster, type Redis as Single } from 'ioredis'
import { TEST_WRITE_KEY } from '../keys.ts'
import { connectTo, type RedisClient, reconnectWaitMs } from './client.ts'
import { type Commands, withScripts } from './commands.ts'
import { type DurabilitySettings, fullestOf, parseMemory, type RedisMemory, readSettings } from './durability.ts'
import { fateOf, isRefusal, isReply, limitReplies, type ReplyWatch, watchReplies } from './replies.ts'
import type { ScriptName, ScriptReplies } from './scripts.ts'

/** How the stores of this package send commands. `index.ts` does not export it, so no other package touches a key. */
export const execute = Symbol('execute')

/** A connection that reconnects automatically. While it is down, every use of it rejects immediately with Unavailable. */
export interface Redis extends ReturnType<typeof wrap> {}

export const runScript = <Name extends ScriptName>(
  redis: Pick<Redis, typeof execute>,
  name: Name,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[] = [],
): Promise<ScriptReplies[Name]> => redis[execute]((commands) => commands.runScript(name, keys, args))

/** Sends several commands in one round trip, and resolves to their replies. @throws as `Redis[execute]` */
export const pipeline = <Replies extends readonly unknown[] | []>(
  redis: Pick<Redis, typeof execute>,
  send: (commands: Commands) => Replies,
): Promise<{ -readonly [Place in keyof Replies]: Awaited<Replies[Place]> }> =>
  redis[execute]((commands) => Promise.all(send(commands)))

/**
 * Reads the strings at keys of a tick in one command.
 * @param readOne reads a key of a cluster, so that a primary that is away fails its own keys only
 */
export const stringsPerTick = (
  redis: Pick<Redis, typeof execute | 'mayMixTags'>,
  readOne = (key: string): Promise<string | null> => redis[execute]((commands) => commands.get(key)),
) =>
  oncePerTick(async (keys: readonly string[]) =>
    redis.mayMixTags() ? await redis[execute]((commands) => commands.getEach(keys)) : keys.map(readOne),
  )

/** Redis answered with an error about the command or the stored data, not about its own state. */
export class RedisRefusal extends Error {
  override readonly name = 'RedisRefusal'
}

/** A long outage is logged again at this interval. */
const REMIND_MS = 60_000

const REFUSED_CERTIFICATE =
  "Redis's certificate is not accepted; check REDIS_CA_FILE, and that the certificate is for the host in REDIS_URL"

/** Connects, and waits without limit for a Redis that is not up yet. The wait is logged as a warning. */
export async function openRedis(options: {
  /** Several URLs: the sentinels, or nodes of one cluster. */
  readonly url: string | readonly string[]
  /** Certificates of the only authorities (PEM) that Redis's certificate may come from. Absent: those that Node.js trusts. */
  readonly ca?: string
  readonly log: Logger
  readonly name: string
  /** Resolve even while Redis is over `maxmemory`. For a service whose work frees memory. */
  readonly mayBeFull?: boolean
}): Promise<Redis> {
  const client = connectTo(options.url, options)
  const closing = new AbortController()
  const redis = wrap(client, closing, watch(client, closing.signal, options))
  await redis.ready({ mayBeFull: options.mayBeFull ?? false })
  return redis
}

/** Logs the start, the duration and the end of an outage, not each attempt. Returns the function that reports an error. */
function watch(
  client: RedisClient,
  closing: AbortSignal,
  { log, name }: { log: Logger; name: string },
): (error: unknown) => void {
  let loggedAt: number | undefined
  const trouble = (error: unknown): void => {
    if (closing.aborted || (loggedAt !== undefined && Date.now() - loggedAt < REMIND_MS)) return
    loggedAt = Date.now()
    // For a host with several addresses, the failures are nested and the outer message is empty.
    const first: unknown = error instanceof AggregateError ? error.errors[0] : error
    const fields = { connection: name, error: withoutArguments(first) }
    if (isCertificateError(first)) log.error(REFUSED_CERTIFICATE, fields)
    else log.warn('waiting for Redis', fields)
  }
  client.on('error', trouble)
  client.on('close', () => trouble(new Error('the connection was closed')))
  client.on('ready', () => {
    if (loggedAt !== undefined) log.info('reconnected to Redis', { connection: name })
    loggedAt = undefined
  })
  return trouble
}

function wrap(client: RedisClient, closing: AbortController, trouble: (error: unknown) => void) {
  const commands = withScripts(client)
  // A cluster's connections are ioredis' own, and each command chooses one.
  const replies = client instanceof Cluster ? limitReplies() : watchReplies(client)

  /**
   * Sends commands. `action` must do nothing else, because its errors are taken for errors of Redis.
   * @throws Unavailable when Redis cannot be reached, does not answer in time, or reports that it cannot serve now; its
   * `fate` says whether the failed command may have been executed
   * @throws RedisRefusal when Redis rejects the command itself: repeating it would not help
   */
  async function send<T>(action: (commands: Commands) => Promise<T>): Promise<T> {
    if (client.status !== 'ready' || closing.signal.aborted) {
      throw new Unavailable('redis', 'Redis cannot be reached', { fate: 'not-executed' })
    }
    try {
      return await replies.send(() => action(commands))
    } catch (error) {
      const cause = withoutArguments(error)
      if (isRefusal(cause)) throw new RedisRefusal(`Redis refused a command: ${cause.message}`, { cause })
      // A lost connection is logged where it is noticed; a Redis that refuses to serve shows in its replies alone.
      if (isReply(cause)) trouble(cause)
      throw new Unavailable('redis', 'Redis did not carry out a command', { cause, fate: fateOf(cause) })
    }
  }

  const primaries = (): readonly Single[] => (client instanceof Cluster ? client.nodes('master') : [client])
  let closed: Promise<void> | undefined
  return {
    [execute]: send,
    isReady: (): boolean => client.status === 'ready' && !closing.signal.aborted,
    /** Resolves when Redis accepts writes; with `mayBeFull`, also when it lacks only memory. Rejects once closed. */
    async ready({ mayBeFull } = { mayBeFull: false }): Promise<void> {
      for (let tries = 0; ; tries++) {
        if (closing.signal.aborted) throw new Unavailable('redis', 'the connection to Redis was closed by this process')
        try {
          await send((redis) => redis.set(TEST_WRITE_KEY, '', 'PX', 1_000))
          return
        } catch (error) {
          if (mayBeFull && isFull(error)) return
          // Connected, but silent: no better than a Redis that is down.
          if (client.status === 'ready') trouble(error instanceof Error ? error.cause : error)
        }
        await delay(reconnectWaitMs(tries), undefined, { signal: closing.signal }).catch(() => undefined)
      }
    },
    /** Of each primary. */
    durabilitySettings: (): Promise<readonly DurabilitySettings[]> =>
      send(() => Promise.all(primaries().map(readSettings))),
    /** Of the fullest primary. Undefined: Redis does not show it. */
    async memory(): Promise<RedisMemory | undefined> {
      const answers = await send(() => Promise.all(primaries().map((node) => node.info('memory'))))
      return fullestOf(answers.map(parseMemory).filter((memory) => memory !== undefined))
    },
    /** Redis' clock, in ms since 1970. In a cluster it is the clock of one node. Rejects with Unavailable. */
    nowMs: (): Promise<number> => send((redis) => redis.nowMs()),
    /** Whether one command may have keys of several hash tags, which a cluster refuses. */
    mayMixTags: (): boolean => commands.mayMixTags(),
    close(): Promise<void> {
      closing.abort()
      closed ??= disconnect(client, replies)
      return closed
    },
  }
}

async function disconnect(client: RedisClient, replies: ReplyWatch): Promise<void> {
  try {
    if (client.status !== 'ready') return client.disconnect()
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    await replies.send(() => client.quit()).catch(() => client.disconnect())
    await ended
  } finally {
    replies.stop()
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Unavailable && isReply(error.cause) && error.cause.message.startsWith('OOM')

/** ioredis attaches the failed command to its errors, with arguments: bodies, URLs, even the password. */
function withoutArguments(error: unknown): unknown {
  if (error instanceof Error) Reflect.deleteProperty(error, 'command')
  return error
}
