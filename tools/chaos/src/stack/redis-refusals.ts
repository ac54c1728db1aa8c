import { Redis } from 'ioredis'

/** How Redis is made to answer with an error, for another reason than its data. */
const REFUSE = {
  /** The services may run no script. */
  NOPERM: (redis) => redis.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha'),
  /** It has become a replica. */
  READONLY: (redis) => redis.replicaof('127.0.0.1', 1),
  /** It has become a replica without data of its primary. */
  MASTERDOWN: async (redis) => {
    await redis.config('SET', 'replica-serve-stale-data', 'no')
    await redis.replicaof('127.0.0.1', 1)
  },
  /** A script does not end. Its connection ends with the script. */
  BUSY: async (redis) => {
    await redis.config('SET', 'busy-reply-threshold', '1')
    const other = redis.duplicate({ commandTimeout: 60_000 })
    void other.eval('while true do end', 0).catch(() => other.disconnect())
  },
} satisfies Readonly<Record<string, (redis: Redis) => Promise<unknown>>>

export type Refusal = keyof typeof REFUSE
export const REFUSALS = Object.keys(REFUSE) as Refusal[]

/** @throws if Redis does not answer */
export const refuseCommands = (redisUrl: string, error: Refusal): Promise<unknown> =>
  withRedis(redisUrl, async (redis) => REFUSE[error](redis))

/** Ends every refusal, also of a Redis that was started again meanwhile. @throws if Redis does not answer */
export const serveCommands = (redisUrl: string): Promise<void> =>
  withRedis(redisUrl, async (redis) => {
    // It answers NOTBUSY if no script runs.
    await redis.call('SCRIPT', 'KILL').catch(() => {})
    await redis.replicaof('NO', 'ONE')
    await redis.config('SET', 'replica-serve-stale-data', 'yes')
    await redis.call('ACL', 'SETUSER', 'default', '+@all')
  })

/** Sets the memory limit of Redis in bytes (0: none) and returns the previous limit. @throws if Redis does not answer */
export const setMaxmemory = (redisUrl: string, bytes: string): Promise<string> =>
  withRedis(redisUrl, async (redis) => {
    const [, before = '0'] = await redis.config('GET', 'maxmemory')
    await redis.config('SET', 'maxmemory', bytes)
    return before
  })

async function withRedis<Result>(redisUrl: string, act: (redis: Redis) => Promise<Result>): Promise<Result> {
  // Without the check of ioredis: it takes a Redis that refuses commands as not ready.
  const options = { retryStrategy: () => null, maxRetriesPerRequest: 0, commandTimeout: 5_000, enableReadyCheck: false }
  const redis = new Redis(redisUrl, options)
  // The command that fails reports it.
  redis.on('error', () => {})
  try {
    return await act(redis)
  } finally {
    redis.disconnect()
  }
}
