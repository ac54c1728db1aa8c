import { sampleQueues } from '@switchhook/messaging'
import { commonFields, duration, durations, loadConfig } from '@switchhook/runtime'
import { createInstallationStore, openRedis } from '@switchhook/store'
import { parseCommand, runCommand, USAGE } from './commands/installation-command.ts'

const NAME = 'installation command'
const REDIS_TIMEOUT_MS = 10_000

const command = parseCommand(process.argv.slice(2))
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

async function run(deed: Parameters<typeof runCommand>[0]): Promise<void> {
  const config = loadConfig(
    {
      AMQP_URL: commonFields.AMQP_URL,
      REDIS_URL: commonFields.REDIS_URL,
      // With the defaults of the workers.
      DELIVERY_RETRY_WAITS: durations('10s,1m,5m,30m,2h,4h,6h'),
      BREAKER_COOLDOWN: duration('30s', { minMs: 1 }),
    },
    process.env,
  )
  const timer = setTimeout(() => {
    process.stderr.write('Redis cannot be reached\n')
    process.exit(1)
  }, REDIS_TIMEOUT_MS)
  const redis = await openRedis({ url: config.REDIS_URL, log: quiet, name: NAME, mayBeFull: true })
  clearTimeout(timer)
  try {
    const lines = await runCommand(deed, {
      installation: createInstallationStore(redis),
      sample: (queues, limit) => sampleQueues({ url: config.AMQP_URL, name: NAME, queues, limit }),
      waitsMs: [...config.DELIVERY_RETRY_WAITS, config.BREAKER_COOLDOWN],
      now: Date.now,
    })
    for (const line of lines) process.stdout.write(`${line}\n`)
  } finally {
    await redis.close()
  }
}

function fail(message: string, exitCode: number): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

if (command.name !== 'help') {
  run(command).catch((error: unknown) => fail(error instanceof Error ? error.message : String(error), 1))
} else if (command.problem === undefined) process.stdout.write(`${USAGE}\n`)
else fail(`${command.problem}\n${USAGE}`, 2)
