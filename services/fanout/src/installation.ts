import { sampleQueues } from '@switchhook/messaging'
import {
  amqpAddress,
  amqpFields,
  commonRules,
  duration,
  durations,
  loadConfig,
  redisAddress,
  redisFields,
} from '@switchhook/runtime'
import { createInstallationStore, openRedis } from '@switchhook/store'
import { runCommandLine } from './commands/command-line.ts'
import { parseCommand, runCommand, USAGE } from './commands/installation-command.ts'

const NAME = 'installation command'
const REDIS_TIMEOUT_MS = 10_000

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

runCommandLine(parseCommand(process.argv.slice(2)), USAGE, async (command, print) => {
  const config = loadConfig(
    {
      ...amqpFields,
      ...redisFields,
      // With the workers' defaults.
      DELIVERY_RETRY_WAITS: durations('10s,1m,5m,30m,2h,4h,6h'),
      BREAKER_COOLDOWN: duration('30s', { minMs: 1 }),
    },
    process.env,
    commonRules,
  )
  // openRedis waits without a limit.
  const timer = setTimeout(() => {
    process.stderr.write('Redis cannot be reached\n')
    process.exit(1)
  }, REDIS_TIMEOUT_MS)
  const redis = await openRedis({ ...redisAddress(config), log: quiet, name: NAME, mayBeFull: true })
  clearTimeout(timer)
  try {
    const lines = await runCommand(command, {
      installation: createInstallationStore(redis),
      sample: (queues, limit) => sampleQueues({ ...amqpAddress(config), name: NAME, queues, limit }),
      waitsMs: [...config.DELIVERY_RETRY_WAITS, config.BREAKER_COOLDOWN],
      now: Date.now,
    })
    for (const line of lines) print(line)
  } finally {
    await redis.close()
  }
})
