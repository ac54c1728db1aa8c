import { parseArgs } from 'node:util'

/** The user asked for help, or `problem` says what is wrong with the arguments. */
export interface Help {
  readonly name: 'help'
  readonly problem?: string
}

/**
 * Parses arguments of the form `<words> [--limit N] [--help]`.
 * @param choose gets the words and a reader of `--limit`; the message of an error that it throws becomes the problem
 */
export function parseCommandLine<Command>(
  args: readonly string[],
  choose: (words: readonly string[], limit: (fallback: number) => number) => Command,
): Command | Help {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { limit: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help === true) return { name: 'help' }
    let takesLimit = false
    const command = choose(positionals, (fallback) => {
      takesLimit = true
      return parseLimit(values.limit, fallback)
    })
    if (values.limit !== undefined && !takesLimit) throw new Error('--limit is not an option of this command')
    return command
  } catch (error) {
    return { name: 'help', problem: messageOf(error) }
  }
}

function parseLimit(given: string | undefined, fallback: number): number {
  const limit = Number(given ?? fallback)
  if (!Number.isSafeInteger(limit) || limit < 1) throw new Error('--limit must be a whole number of at least 1')
  return limit
}

/** Runs the process's command, or prints its usage. Exit code 1: the command failed; 2: the arguments are wrong. */
export function runCommandLine<Command extends { readonly name: string }>(
  command: Command | Help,
  usage: string,
  run: (command: Command, print: (line: string) => void) => Promise<void>,
): void {
  if (!isHelp(command)) {
    // The message of a configuration error lists every problem.
    run(command, print).catch((error: unknown) => fail(messageOf(error), 1))
  } else if (command.problem === undefined) print(usage)
  else fail(`${command.problem}\n${usage}`, 2)
}

const isHelp = (command: { readonly name: string }): command is Help => command.name === 'help'

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function fail(message: string, exitCode: number): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
