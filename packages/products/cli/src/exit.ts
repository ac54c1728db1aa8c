/** Exit codes of the command. docs/cli.md lists them. */
export const Exit = {
  ok: 0,
  finding: 1,
  usage: 2,
  signIn: 3,
  notFound: 4,
  refused: 5,
  noAnswer: 6,
  interrupted: 130,
} as const

export type ExitCode = (typeof Exit)[keyof typeof Exit]

/** A failure that the command has found itself. Its message says what to do. */
export class CliError extends Error {
  readonly exit: ExitCode

  constructor(exit: ExitCode, message: string) {
    super(message)
    this.exit = exit
  }
}

export const usage = (message: string): CliError => new CliError(Exit.usage, message)
