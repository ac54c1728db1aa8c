/**
 * Writes RabbitMQ's definitions (users, permissions, policies, queues, exchanges; no messages) into a folder:
 * definitions-<UTC time>.json. Runs with Node alone, in any image of a service. docs/backup.md explains when they help.
 *
 *   BACKUP_DIR       the folder for the copies; required
 *   BACKUP_KEEP      the number of copies to keep (48)
 *   MANAGEMENT_URL   http://user:password@host:15672, of a user with the tag `administrator`; required
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PATIENCE_MS = 30_000

async function main({ BACKUP_DIR: folder, BACKUP_KEEP: keep = '48', MANAGEMENT_URL: url }) {
  if (!folder) throw new Error('BACKUP_DIR is not set: the folder for the copies')
  if (!url || !URL.canParse(url)) throw new Error('MANAGEMENT_URL must be http://user:password@host:15672')
  const { origin, username, password } = new URL(url)
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const response = await fetch(`${origin}/api/definitions`, {
    headers: { authorization: `Basic ${credentials}` },
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  if (!response.ok) throw new Error(`RabbitMQ answered ${response.status}: the user needs the tag administrator`)
  const text = await response.text()
  if (!Array.isArray(JSON.parse(text).queues)) throw new Error('RabbitMQ answered something other than definitions')

  mkdirSync(folder, { recursive: true })
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const file = join(folder, `definitions-${time}.json`)
  const part = join(folder, `.part-${process.pid}`)
  // The file contains the hashes of passwords.
  writeFileSync(part, text, { mode: 0o600, flush: true })
  renameSync(part, file)
  const copies = readdirSync(folder).filter((name) => /^definitions-\d{8}T\d{6}Z\.json$/.test(name))
  for (const old of copies.toSorted().toReversed().slice(Number(keep))) rmSync(join(folder, old))
  process.stdout.write(`${file}\n`)
}

main(process.env).catch((error) => {
  process.stderr.write(`backup failed: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
})
