import { openQuarantine } from '@switchhook/messaging'
import { amqpAddress, amqpFields, amqpRules, loadConfig } from '@switchhook/runtime'
import { runCommandLine } from './command-line.ts'
import { parseCommand, runCommand, USAGE } from './quarantine-command.ts'

/** `node dist/quarantine.js`, in the fan-out image: lists and requeues messages that could not be parsed. */
export const runQuarantine = (args: readonly string[]): void =>
  runCommandLine(parseCommand(args), USAGE, async ({ name, limit }, print) => {
    const config = loadConfig(amqpFields, process.env, amqpRules)
    const quarantine = await openQuarantine({ ...amqpAddress(config), name: 'quarantine command' })
    try {
      for (const line of await runCommand(quarantine, name, limit)) print(line)
    } finally {
      await quarantine.close()
    }
  })
