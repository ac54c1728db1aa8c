import { Redis } from 'ioredis'

/** Sets the memory limit of Redis in bytes (0: none) and returns the previous limit. @throws if Redis does not answer */
export async function setMaxmemory(redisUrl: string, bytes: string): Promise<string> {
  const redis = new Redis(redisUrl, { retryStrategy: () => null, maxRetriesPerRequest: 0, commandTimeout: 5_000 })
  // The command that fails reports it.
  redis.on('error', () => {})
  try {
    const [, before = '0'] = await redis.config('GET', 'maxmemory')
    await redis.config('SET', 'maxmemory', bytes)
    return before
  } finally {
    redis.disconnect()
  }
}
