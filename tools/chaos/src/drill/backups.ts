import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { repository } from '@switchhook/test-servers'

/** Backups and restores by the scripts that operators use (docs/backup.md), on this machine. */
export interface Backups {
  /** Returns the path of the copy. */
  saveRedis(redisUrl: string): Promise<string>
  /** Redis must be stopped. Returns what the script reports. */
  restoreRedis(copy: string, dataFolder: string): Promise<string>
  /** Returns the path of the copy. */
  saveDefinitions(managementUrl: string): Promise<string>
  restoreDefinitions(copy: string, managementUrl: string): Promise<void>
}

const script = (path: string): string => join(repository, 'infra', path)

/** @param folder keeps the copies */
export function openBackups(folder: string): Backups {
  return {
    saveRedis: async (redisUrl) => {
      const { hostname, port } = new URL(redisUrl)
      return run('sh', [script('redis/backup.sh')], { BACKUP_DIR: folder, REDIS_HOST: hostname, REDIS_PORT: port })
    },
    restoreRedis: (copy, dataFolder) => run('sh', [script('redis/restore.sh'), copy, dataFolder], {}),
    saveDefinitions: (managementUrl) =>
      run(process.execPath, [script('rabbitmq/backup-definitions.mjs')], {
        BACKUP_DIR: folder,
        MANAGEMENT_URL: managementUrl,
      }),
    restoreDefinitions: async (copy, managementUrl) => {
      const { origin, username, password } = new URL(managementUrl)
      const response = await fetch(`${origin}/api/definitions`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(`${username}:${password}`)}`, 'content-type': 'application/json' },
        body: readFileSync(copy),
      })
      if (!response.ok) throw new Error(`importing ${copy} was answered ${response.status}: ${await response.text()}`)
    },
  }
}

/** Returns the standard output. @throws with the standard error if the command fails */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'close')
  const [said, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  if (code !== 0) throw new Error(`${args.join(' ')} failed:\n${complaint}`)
  return said.trim()
}
