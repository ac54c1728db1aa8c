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

export interface Command<Options extends readonly OptionSpec[] = readonly OptionSpec[], Given = never> {
  readonly name: string
  readonly summary: string
  /** Commander's syntax: `<id>`, `[type]`, `<ids...>`. */
  readonly args?: readonly OptionSpec[]
  readonly options?: Options
  /** Ends normally for exit code 0. @throws anything that `reportOf` knows */
  readonly run: (context: Context, args: readonly string[], given: Given) => Promise<void>
}

type CamelCase<Text> = Text extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Text

/** Commander's name of an option: `--expire-after <time>` is `expireAfter`. */
type NameIn<Flags> = Flags extends `--${infer Name}`
  ? CamelCase<Name extends `${infer Word} ${string}` ? Word : Name>
  : never

/** A text for each option that takes one, and true for each other one that is given. */
export type GivenOf<Options extends readonly OptionSpec[]> = {
  readonly [Flags in Options[number][0] as NameIn<Flags>]?: Flags extends `${string}>` ? string : true
}

export const command = <const Options extends readonly OptionSpec[] = []>(
  definition: Command<Options, GivenOf<Options>>,
): Command => definition

export interface Group {
  /** Empty: its commands are at the top. */
  readonly name: string
  readonly summary: string
  readonly commands: readonly Command[]
}

/** The fields that have a value. The types of the API know no undefined. */
export const given = <T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>
