import { parseArgs } from 'node:util'
import type { Quarantine, QuarantinedMessage } from '@switchhook/messaging'

export type QuarantineCommand =
  | { readonly name: 'list' | 'requeue'; readonly limit: number }
  | { readonly name: 'help'; readonly problem?: string }

export const USAGE = `usage: node quarantine.js list [--limit N]      show the oldest messages, one JSON line each; default 20
       node quarantine.js requeue [--limit N]   send the oldest back to where each came from; default 1000
AMQP_URL names the broker.`

const DEFAULT_LIMITS = { list: 20, requeue: 1_000 }

/** Of a message's content, as much as tells a person what it is. */
const SHOWN_CHARACTERS = 2_000

export function parseCommand(args: readonly string[]): QuarantineCommand {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { limit: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) return { name: 'help' }
    const [name, ...rest] = positionals
    if ((name !== 'list' && name !== 'requeue') || rest.length > 0)
      return { name: 'help', problem: 'say list or requeue' }
    const limit = Number(values.limit ?? DEFAULT_LIMITS[name])
    if (!Number.isSafeInteger(limit) || limit < 1) return { name: 'help', problem: '--limit must be a number from 1' }
    return { name, limit }
  } catch (error) {
    return { name: 'help', problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Answers the lines to print. */
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
