import { parseArgs } from 'node:util'

/** Reads `<words> [--limit N]`. @throws Error with what is wrong with the arguments */
export function parseCommandLine<Command>(
  args: readonly string[],
  choose: (words: readonly string[], limit: (fallback: number) => number) => Command,
): Command {
  const options = { limit: { type: 'string' } } as const
  const { positionals, values } = parseArgs({ args: [...args], allowPositionals: true, options })
  let takesLimit = false
  const command = choose(positionals, (fallback) => {
    takesLimit = true
    return parseLimit(values.limit, fallback)
  })
  if (values.limit !== undefined && !takesLimit) throw new Error('--limit is not an option of this command')
  return command
}

function parseLimit(given: string | undefined, fallback: number): number {
  const limit = Number(given ?? fallback)
  if (!Number.isSafeInteger(limit) || limit < 1) throw new Error('--limit must be a whole number of at least 1')
  return limit
}

/** Runs the process's command; prints its usage with `--help`. Exit code 1: the command failed; 2: the arguments are wrong. */
export function runCommandLine<Command>(
  args: readonly string[],
  usage: string,
  parse: (args: readonly string[]) => Command,
  run: (command: Command, print: (line: string) => void) => Promise<void>,
): void {
  if (args.includes('--help') || args.includes('-h')) return print(usage)
  let command: Command
  try {
    command = parse(args)
  } catch (error) {
    return fail(`${messageOf(error)}\n${usage}`, 2)
  }
  // The message of a configuration error lists every problem.
  run(command, print).catch((error: unknown) => fail(messageOf(error), 1))
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

function fail(message: string, exitCode: number): void {
  process.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}

/** With the reason, such as a refused login: `RabbitMQ cannot be reached: …`. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== ''
    ? `${error.message}: ${error.cause.message}`
    : error.message
}
