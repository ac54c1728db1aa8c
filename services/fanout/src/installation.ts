import { sampleQueues } from '@switchhook/messaging'
import { commonFields, duration, durations, loadConfig } from '@switchhook/runtime'
import { createInstallationStore, openRedis } from '@switchhook/store'
import { runCommandLine } from './commands/command-line.ts'
import { parseCommand, runCommand, USAGE } from './commands/installation-command.ts'

const NAME = 'installation command'
const REDIS_TIMEOUT_MS = 10_000

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

runCommandLine(parseCommand(process.argv.slice(2)), USAGE, async (command, print) => {
  const config = loadConfig(
    {
      AMQP_URL: commonFields.AMQP_URL,
      REDIS_URL: commonFields.REDIS_URL,
      // With the workers' defaults.
      DELIVERY_RETRY_WAITS: durations('10s,1m,5m,30m,2h,4h,6h'),
      BREAKER_COOLDOWN: duration('30s', { minMs: 1 }),
    },
    process.env,
  )
  // openRedis waits without a limit.
  const timer = setTimeout(() => {
    process.stderr.write('Redis cannot be reached\n')
    process.exit(1)
  }, REDIS_TIMEOUT_MS)
  const redis = await openRedis({ url: config.REDIS_URL, log: quiet, name: NAME, mayBeFull: true })
  clearTimeout(timer)
  try {
    const lines = await runCommand(command, {
      installation: createInstallationStore(redis),
      sample: (queues, limit) => sampleQueues({ url: config.AMQP_URL, name: NAME, queues, limit }),
      waitsMs: [...config.DELIVERY_RETRY_WAITS, config.BREAKER_COOLDOWN],
      now: Date.now,
    })
    for (const line of lines) print(line)
  } finally {
    await redis.close()
  }
})
