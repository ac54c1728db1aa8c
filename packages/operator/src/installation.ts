import { DEFAULT_RETRY_WAITS } from '@switchhook/contracts'
import { memberWaitMs, sampleQueues } from '@switchhook/messaging'
import { amqpAddress, amqpFields, commonRules, duration, durations, loadConfig, redisFields } from '@switchhook/runtime'
import { createInstallationStore } from '@switchhook/store'
import { runCommandLine } from './command-line.ts'
import { parseCommand, runCommand, USAGE } from './installation-command.ts'
import { withRedis } from './with-redis.ts'

const NAME = 'installation command'

/** `node dist/installation.js`, in the fan-out image: shows installation ids, and decides about messages of another installation. */
export const runInstallation = (args: readonly string[]): void =>
  runCommandLine(parseCommand(args), USAGE, async (command, print) => {
    const config = loadConfig(
      {
        ...amqpFields,
        ...redisFields,
        // With the workers' defaults.
        DELIVERY_RETRY_WAITS: durations(DEFAULT_RETRY_WAITS),
        BREAKER_COOLDOWN: duration('30s', { minMs: 1 }),
        DELIVERY_TIMEOUT: duration('10s', { minMs: 1 }),
      },
      process.env,
      commonRules,
    )
    await withRedis(NAME, config, async (redis) => {
      const lines = await runCommand(command, {
        installation: createInstallationStore(redis),
        sample: (queues, limit) => sampleQueues({ ...amqpAddress(config), name: NAME, queues, limit }),
        waitsMs: [...config.DELIVERY_RETRY_WAITS, config.BREAKER_COOLDOWN, memberWaitMs(config.DELIVERY_TIMEOUT)],
      })
      for (const line of lines) print(line)
    })
  })
