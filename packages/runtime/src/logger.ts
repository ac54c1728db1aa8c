import { inspect } from 'node:util'
import { type Batch, createBatch } from './batch.ts'

/** Fields of a log line: ids and measurements, never tokens or bodies. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * error: an operator must act. warn: recovers without help; investigate if it persists. info: normal operation, including
 * the failures of subscribers' endpoints. debug: for developers.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
}

const LEVELS: readonly string[] = ['error', 'warn', 'info', 'debug'] satisfies (keyof Logger)[]

/**
 * Writes JSON lines with `time`, `level`, `service` and `message`. Credentials in URLs are removed.
 * @param write writes one line; absent: standard output, where the lines of a few milliseconds are gathered
 */
export function createLogger(
  service: string,
  maxLevel: string,
  write: (line: string) => void = gatherLines(process.stdout).add,
): Logger {
  const writer = (level: keyof Logger): Logger['info'] =>
    LEVELS.indexOf(level) > LEVELS.indexOf(maxLevel)
      ? () => {}
      : (message, fields = {}) => {
          const { level: _, service: __, message: ___, error, ...rest } = fields
          const time = new Date().toISOString()
          // Only the text of the line contains every URL, including those in errors.
          write(withoutCredentials(textOf({ time, level, service, message, ...rest, ...described(error) })))
        }
  return { error: writer('error'), warn: writer('warn'), info: writer('info'), debug: writer('debug') }
}

/** Bounds a chain of causes that contains itself. */
const MAX_CAUSES = 10

function described(error: unknown): LogFields {
  if (error === undefined) return {}
  if (!(error instanceof Error)) return { error }
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error && causes.length < MAX_CAUSES; cause = cause.cause) {
    causes.push(cause.message)
  }
  return {
    error: error.message,
    errorName: error.name,
    ...(causes.length > 0 && { causes }),
    stack: error.stack,
  }
}

/** With a circular value or a bigint, which JSON cannot represent, every object of the line is written as text. */
function textOf(line: LogFields): string {
  try {
    return JSON.stringify(line)
  } catch {
    return JSON.stringify(line, (name, value: unknown) => (name === '' || isPlain(value) ? value : inspect(value)))
  }
}

const isPlain = (value: unknown): boolean => typeof value !== 'object' && typeof value !== 'bigint'

/** Error messages of client libraries may contain the URL that they failed to reach, with its user and password. */
export const withoutCredentials = (text: string): string =>
  // Most lines have no such character, and finding that out is much quicker than the expression.
  text.includes('@') ? text.replaceAll(/\/\/[^/?#\s"]*@/g, '//***@') : text

/** Where lines go. Must be able to write synchronously while the process exits, as standard output is (Linux). */
export interface LineOutput {
  readonly write: (text: string) => unknown
}

/** A line waits at most this long: unnoticeable for readers, and several lines of a busy process. */
const MAX_WAIT_MS = 5
/** In characters. */
const MAX_GATHERED = 64 * 1_024

/**
 * Writes the lines of a few milliseconds together, because each write is a system call of about 10 µs. Lines that are
 * gathered when the process exits are written before it ends, after an uncaught exception too. Only a process that is
 * killed (SIGKILL, out of memory) loses the lines of its last 5 ms.
 */
export function gatherLines(output: LineOutput): Batch<string, unknown> {
  const lines = createBatch({
    waitMs: MAX_WAIT_MS,
    maxWeight: MAX_GATHERED,
    weightOf: (line: string) => line.length,
    write: (gathered) => output.write(`${gathered.join('\n')}\n`),
  })
  process.on('exit', lines.flush)
  return lines
}
