import { openQuarantine } from '@switchhook/messaging'
import { commonFields, loadConfig } from '@switchhook/runtime'
import { runCommandLine } from './commands/command-line.ts'
import { parseCommand, runCommand, USAGE } from './commands/quarantine-command.ts'

runCommandLine(parseCommand(process.argv.slice(2)), USAGE, async ({ name, limit }, print) => {
  const { AMQP_URL } = loadConfig({ AMQP_URL: commonFields.AMQP_URL }, process.env)
  const quarantine = await openQuarantine({ url: AMQP_URL, name: 'quarantine command' })
  try {
    for (const line of await runCommand(quarantine, name, limit)) print(line)
  } finally {
    await quarantine.close()
  }
})
