import { openQuarantine } from '@switchhook/messaging'
import { amqpAddress, amqpFields, amqpRules, loadConfig } from '@switchhook/runtime'
import { runCommandLine } from './commands/command-line.ts'
import { parseCommand, runCommand, USAGE } from './commands/quarantine-command.ts'

runCommandLine(parseCommand(process.argv.slice(2)), USAGE, async ({ name, limit }, print) => {
  const config = loadConfig(amqpFields, process.env, amqpRules)
  const quarantine = await openQuarantine({ ...amqpAddress(config), name: 'quarantine command' })
  try {
    for (const line of await runCommand(quarantine, name, limit)) print(line)
  } finally {
    await quarantine.close()
  }
})
