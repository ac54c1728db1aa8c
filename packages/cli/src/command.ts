import type { Client } from '@switchhook/client'
import type { Connection } from './connection.ts'
import type { Output } from './output/output.ts'
import type { ProfileFile } from './session/profiles.ts'
import type { Session } from './session/session.ts'

/** What a command gets from the process and from the profile. */
export interface Context {
  /** Opened at first use, so that commands without a server need no profile. */
  readonly client: Client
  readonly session: Session
  readonly connection: Connection
  readonly profiles: ProfileFile
  readonly out: Output
  readonly env: NodeJS.ProcessEnv
  /** Everything that is piped into the command. @param prompt asked on a terminal */
  readonly readInput: (prompt: string) => Promise<string>
  readonly groups: readonly Group[]
}

/** Commander's syntax: `--since <time>`. */
export type OptionSpec = readonly [flags: string, description: string]

export interface Command {
  readonly name: string
  readonly summary: string
  /** Commander's syntax: `<id>`, `[type]`, `<ids...>`. */
  readonly args?: readonly OptionSpec[]
  readonly options?: readonly OptionSpec[]
  /** Ends normally for exit code 0. @throws anything that `reportOf` knows */
  readonly run: (context: Context, args: readonly string[], options: never) => Promise<void>
}

export interface Group {
  /** Empty: its commands are at the top. */
  readonly name: string
  readonly summary: string
  readonly commands: readonly Command[]
}

/** The fields that have a value. The types of the API know no undefined. */
export const given = <T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>
