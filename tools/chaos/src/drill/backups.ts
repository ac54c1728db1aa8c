import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository, runCommand } from '@switchhook/test-servers'
import { openManagement } from '@switchhook/testkit'

export type Backups = ReturnType<typeof openBackups>

const script = (path: string): string => join(repository, 'infra', path)

/**
 * Backups and restores by the scripts that operators use (docs/backup.md), on this machine.
 * @param folder keeps the copies
 */
export function openBackups(folder: string) {
  return {
    /** Returns the path of the copy. */
    saveRedis: (redisUrl: string): Promise<string> => {
      const { hostname, port } = new URL(redisUrl)
      return run('sh', [script('redis/backup.sh')], { BACKUP_DIR: folder, REDIS_HOST: hostname, REDIS_PORT: port })
    },
    /** Redis must be stopped. Returns what the script reports. */
    restoreRedis: (copy: string, dataFolder: string): Promise<string> =>
      run('sh', [script('redis/restore.sh'), copy, dataFolder], {}),
    /** Returns the path of the copy. */
    saveDefinitions: (managementUrl: string): Promise<string> =>
      run(process.execPath, [script('rabbitmq/backup-definitions.mjs')], {
        BACKUP_DIR: folder,
        MANAGEMENT_URL: managementUrl,
      }),
    restoreDefinitions: async (copy: string, managementUrl: string): Promise<void> => {
      const definitions = JSON.parse(readFileSync(copy, 'utf8')) as object
      await openManagement(managementUrl, '/').call('POST', 'definitions', definitions)
    },
  }
}

/** Returns the standard output. @throws with the output if the command fails */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { ok, stdout, output } = await runCommand(command, args, { env: { ...process.env, ...env } })
  if (!ok) throw new Error(`${args.join(' ')} failed:\n${output}`)
  return stdout.trim()
}
