import { createClient } from '@switchhook/client'
import { CommanderError, Command as Program } from 'commander'
import type { Command, Context } from './command.ts'
import { openConnection } from './connection.ts'
import { Exit, reportOf } from './failure.ts'
import { GROUPS } from './groups.ts'
import { createOutput, type Sink } from './output/output.ts'
import { renew } from './session/openid.ts'
import { openProfiles } from './session/profiles.ts'
import { openSession } from './session/session.ts'

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly stdout: Sink
  readonly stderr: Sink
  readonly readInput: Context['readInput']
  readonly version: string
}

interface Globals {
  readonly json?: true
  readonly profile?: string
}

/** Runs one command line. @returns its exit code */
export async function run(
  argv: readonly string[],
  { env, stdout, stderr, readInput, version }: Surroundings,
): Promise<number> {
  const connection = openConnection()
  let out = createOutput({ stdout, stderr }, env, false)
  const contextOf = ({ json, profile }: Globals): Context => {
    const profiles = openProfiles(env)
    const session = openSession({ env, profiles, named: profile }, renew)
    out = createOutput({ stdout, stderr }, env, json === true)
    return {
      get client() {
        const { url, auth } = session
        return createClient({ baseUrl: url, fetch: connection.fetch, ...(auth && { auth }) })
      },
      session,
      connection,
      profiles,
      out,
      env,
      readInput,
      groups: GROUPS,
    }
  }
  const program = new Program('switchhook')
    .description('Watch events, command calls, explain and repair deliveries of a Switchhook installation.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showSuggestionAfterError()
    .addHelpText('after', '\nExit codes: 1 finding, 2 usage, 3 sign-in or role, 4 not found, 5 refused, 6 no answer.')
  for (const { name, summary, commands } of GROUPS) {
    const parent = name === '' ? program : program.command(name).description(summary)
    for (const command of commands) add(parent, command, contextOf)
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
    return Exit.ok
  } catch (error) {
    // Commander has printed its message, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? Exit.ok : Exit.usage
    const { exit, message } = reportOf(error, connection.clockOffsetMs())
    out.note(message)
    return exit
  }
}

function add(
  parent: Program,
  { name, summary, args = [], options = [], run }: Command,
  contextOf: (globals: Globals) => Context,
): void {
  const command = parent.command(name).description(summary)
  for (const [flags, description] of args) command.argument(flags, description)
  for (const [flags, description] of options) command.option(flags, description)
  command.option('--json', "print the API's objects as JSON").option('--profile <name>', 'use this profile')
  command.action(async (...given: unknown[]) => {
    const own = command.opts<Globals>()
    const { json: _, profile: __, ...rest } = own
    await run(contextOf(own), given.slice(0, args.length).flat() as string[], rest as never)
  })
}
