/**
 * Writes RabbitMQ's definitions (users, permissions, policies, queues, exchanges; no messages) into a folder:
 * definitions-<UTC time>.json. Runs with Node alone, in any image of a service. docs/backup.md explains when they help.
 *
 *   BACKUP_DIR            the folder for the copies; required
 *   BACKUP_KEEP           the number of copies to keep (48)
 *   MANAGEMENT_URL        http://host:15672; required
 *   MANAGEMENT_USERNAME   a user with the tag `administrator`; required
 *   MANAGEMENT_PASSWORD   its password; required
 */
import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ANSWER_MS = 30_000
const INTERVAL_MS = 2_000
/** A network plug-in may refuse the connections of a pod in its first seconds. */
const PATIENCE_MS = 60_000

async function ask(url, headers) {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(INTERVAL_MS)) {
    try {
      return await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS) })
    } catch (error) {
      if (Date.now() < deadline) continue
      throw new Error(`RabbitMQ does not answer at ${url} (${error.cause?.code ?? error.message})`, { cause: error })
    }
  }
}

/** Gives the copy its name. Another backup of the same second has it already. */
async function place(part, folder) {
  for (;;) {
    const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const file = join(folder, `definitions-${time}.json`)
    try {
      // Unlike `renameSync`, it replaces nothing.
      linkSync(part, file)
      rmSync(part)
      return file
    } catch (error) {
      if (error.code === 'EEXIST') await sleep(1_000)
      else {
        // A volume without hard links.
        renameSync(part, file)
        return file
      }
    }
  }
}

async function main({ BACKUP_DIR: folder, BACKUP_KEEP: keep = '48', MANAGEMENT_URL: url, ...login }) {
  if (!folder) throw new Error('BACKUP_DIR is not set: the folder for the copies')
  if (!url || !URL.canParse(url)) throw new Error('MANAGEMENT_URL must be http://host:15672')
  const { origin } = new URL(url)
  const { MANAGEMENT_USERNAME: username, MANAGEMENT_PASSWORD: password } = login
  if (!username || !password) throw new Error('MANAGEMENT_USERNAME and MANAGEMENT_PASSWORD are not both set')
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  const response = await ask(`${origin}/api/definitions`, { authorization: `Basic ${credentials}` })
  if (!response.ok) throw new Error(`RabbitMQ answered ${response.status}: the user needs the tag administrator`)
  const text = await response.text()
  if (!Array.isArray(JSON.parse(text).queues)) throw new Error('RabbitMQ answered something other than definitions')

  mkdirSync(folder, { recursive: true })
  // backup.sh writes to the same folder, and removes what a killed process left under such a name.
  const part = join(folder, `.part-definitions-${randomUUID()}`)
  // The file contains the hashes of passwords.
  writeFileSync(part, text, { mode: 0o600, flush: true })
  const file = await place(part, folder)
  const copies = readdirSync(folder).filter((name) => /^definitions-\d{8}T\d{6}Z\.json$/.test(name))
  // Another backup may have removed a copy by now.
  for (const old of copies.toSorted().toReversed().slice(Number(keep))) rmSync(join(folder, old), { force: true })
  process.stdout.write(`${file}\n`)
}

main(process.env).catch((error) => {
  process.stderr.write(`backup failed: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
})
