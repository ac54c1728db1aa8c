import { openQuarantine, type Quarantine, type QuarantinedMessage } from '@switchhook/messaging'
import { amqpAddress, amqpFields, amqpRules, loadConfig, startFields, startRules } from '@switchhook/runtime'
import { parseCommandLine, runCommandLine } from '@switchhook/service'

const USAGE = `usage: node quarantine.js list [--limit N]      print the oldest messages, one JSON line each; default 20
       node quarantine.js requeue [--limit N]   send the oldest messages back to their origin; default 1000
The variables AMQP_… name the broker, as for the services.`

const DEFAULT_LIMITS = { list: 20, requeue: 1_000 }

/** The start of a message's content, which is enough to recognise it. */
const SHOWN_CHARACTERS = 2_000

export const parseCommand = (args: readonly string[]) =>
  parseCommandLine(args, ([name, ...rest], limit) => {
    if ((name !== 'list' && name !== 'requeue') || rest.length > 0) throw new Error('expected list or requeue')
    return { name, limit: limit(DEFAULT_LIMITS[name]) } as const
  })

/** Resolves to the lines to print. */
export async function runCommand(quarantine: Quarantine, name: 'list' | 'requeue', limit: number): Promise<string[]> {
  if (name === 'list') return (await quarantine.list(limit)).map(toLine)
  return [JSON.stringify(await quarantine.requeue(limit))]
}

function toLine({ origin, messageId, type, content }: QuarantinedMessage): string {
  return JSON.stringify({
    at: origin?.at ?? null,
    from: origin?.queue ?? null,
    reason: origin?.reason ?? null,
    messageId: messageId ?? null,
    type: type ?? null,
    bytes: content.length,
    content: content.toString().slice(0, SHOWN_CHARACTERS),
  })
}

/** `node dist/quarantine.js`, in the fan-out image: lists and requeues messages that could not be parsed. */
export const runQuarantine = (args: readonly string[]): void =>
  runCommandLine(args, USAGE, parseCommand, async ({ name, limit }, print) => {
    const config = loadConfig({ ...amqpFields, ...startFields }, process.env, [...amqpRules, ...startRules])
    const quarantine = await openQuarantine({ ...amqpAddress(config), name: 'quarantine command' })
    try {
      for (const line of await runCommand(quarantine, name, limit)) print(line)
    } finally {
      await quarantine.close()
    }
  })
