import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandResult, type RunningCommand, startCommand } from '@switchhook/testkit'

/** The built command: a dependency of the client has a condition `source` that Node cannot load. */
const command = join(import.meta.dirname, '../../../packages/products/cli/bin/switchhook.js')

/** The command line of one user. */
export interface Switchhook {
  /** The folder with the user's profiles. */
  readonly config: string
  start(args: readonly string[], input?: string): RunningCommand
  /** Runs a command to its end. */
  run(args: readonly string[], input?: string): Promise<CommandResult>
  /** The JSON of a command that succeeds. */
  json<T>(args: readonly string[]): Promise<T>
}

const folders: string[] = []

/** Removes the profiles of all users. Each test file calls it at its end. */
export const removeUsers = (): void => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true }))

/** A user without a profile, outside of a terminal. */
export function newUser(env: NodeJS.ProcessEnv = {}): Switchhook {
  const config = mkdtempSync(join(tmpdir(), 'switchhook-cli-'))
  folders.push(config)
  const start: Switchhook['start'] = (args, input) =>
    startCommand([command, ...args], {
      env: { XDG_CONFIG_HOME: config, ...env },
      ...(input !== undefined && { input }),
    })
  const run: Switchhook['run'] = (args, input) => start(args, input).ended
  return {
    config,
    start,
    run,
    json: async <T>(args: readonly string[]) => {
      const { code, stdout, stderr } = await run([...args, '--json'])
      if (code !== 0) throw new Error(`switchhook ${args.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout) as T
    },
  }
}
