import { type Config, redisAddress, type redisFields, startDeadline } from '@switchhook/runtime'
import { openRedis, type Redis } from '@switchhook/store'

const REDIS_TIMEOUT_MS = 10_000

/** Does the work with a connection to Redis. Ends the process if Redis cannot be reached. @param name of the connection */
export async function withRedis(
  name: string,
  config: Config<typeof redisFields>,
  work: (redis: Redis) => Promise<void>,
): Promise<void> {
  let reason = ''
  const note = (_message: string, fields?: Readonly<Record<string, unknown>>): void => {
    if (fields?.['error'] instanceof Error) reason = `: ${fields['error'].message}`
  }
  // openRedis waits without a limit.
  const deadline = startDeadline(REDIS_TIMEOUT_MS, () => {
    process.stderr.write(`Redis cannot be reached${reason}\n`)
    process.exit(1)
  })
  const redis = await openRedis({
    ...redisAddress(config),
    log: { debug() {}, info() {}, warn: note, error: note },
    name,
    mayBeFull: true,
  })
  deadline.stop()
  try {
    await work(redis)
  } finally {
    await redis.close()
  }
}
