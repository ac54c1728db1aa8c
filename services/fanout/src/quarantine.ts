import { openQuarantine } from '@switchhook/messaging'
import { ConfigError, commonFields, loadConfig } from '@switchhook/runtime'
import { parseCommand, runCommand, USAGE } from './commands/quarantine-command.ts'

const command = parseCommand(process.argv.slice(2))

async function run(name: 'list' | 'requeue', limit: number): Promise<void> {
  const { AMQP_URL } = loadConfig({ AMQP_URL: commonFields.AMQP_URL }, process.env)
  const quarantine = await openQuarantine({ url: AMQP_URL, name: 'quarantine command' })
  try {
    for (const line of await runCommand(quarantine, name, limit)) process.stdout.write(`${line}\n`)
  } finally {
    await quarantine.close()
  }
}

function fail(message: string, exitCode: number): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

if (command.name !== 'help') {
  run(command.name, command.limit).catch((error: unknown) => {
    // A configuration error lists what is wrong; any other says in one line what could not be done.
    fail(error instanceof ConfigError || error instanceof Error ? error.message : String(error), 1)
  })
} else if (command.problem === undefined) process.stdout.write(`${USAGE}\n`)
else fail(`${command.problem}\n${USAGE}`, 2)
