import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const MAX_LINES = 200
/** What each test causes: RabbitMQ's information, looks for a queue that does not exist, and queues that begin and end. */
const USUAL =
  /\[(info|debug)\]|Channel error on connection|channel exception not_found|in term: 1 |terminating with reason 'delete'/

/** The last unusual lines that the RabbitMQ servers below these folders have logged since then. Empty without any. */
export const brokerLog = (folders: readonly string[], sinceMs: number): string =>
  folders
    .flatMap((folder) =>
      globSync('**/log/switchhook-*@localhost.log', { cwd: folder }).map((file) => join(folder, file)),
    )
    .map((file) => unusualSince(readFileSync(file, 'utf8'), sinceMs))
    .filter(Boolean)
    .join('\n\n')

/** Each line of RabbitMQ's log begins with its time; one without a time belongs to the line before it. */
export function unusualSince(log: string, sinceMs: number): string {
  let isTold = false
  const told = log.split('\n').filter((line) => {
    const atMs = Date.parse(line.slice(0, line.indexOf(' [')).replace(' ', 'T'))
    if (!Number.isNaN(atMs)) isTold = atMs >= sinceMs && !USUAL.test(line)
    return isTold && line !== ''
  })
  return told.slice(-MAX_LINES).join('\n')
}
