import winston from 'winston'
import Transport from 'winston-transport'
import { gatherLines, standardOutput } from './standard-output.ts'

/** Fields of a log line: ids and measurements, never tokens or bodies. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * error: an operator must act. warn: recovers without help; investigate if it persists. info: normal operation, including
 * the failures of subscribers' endpoints. debug: for developers.
 */
export type Logger = Readonly<
  Record<'error' | 'warn' | 'info' | 'debug', (message: string, fields?: LogFields) => void>
>

/** winston's key of the formatted line. */
const LINE = Symbol.for('message')
/** Our key of the fields, which winston passes on uncopied. */
const FIELDS = Symbol('fields')

/**
 * Writes JSON lines with `time`, `level`, `service` and `message`. Credentials in URLs are removed.
 * @param write writes one line; absent: standard output, where the lines of a few milliseconds are gathered
 */
export function createLogger(
  service: string,
  level: string,
  write: (line: string, level: string) => void = writeToStandardOutput(),
): Logger {
  const logger = winston.createLogger({
    level,
    format: winston.format((info) => {
      const line = lineOf(info.level, service, String(info.message), (info[FIELDS] ?? {}) as LogFields)
      // Only the formatted line contains every URL, including those in errors.
      info[LINE] = withoutCredentials(line)
      return info
    })(),
    transports: [
      // winston's own stream transport makes one write and one immediate per line.
      new Transport({
        log: (info: Record<symbol | string, unknown>, next: () => void) => {
          write(String(info[LINE]), String(info['level']))
          next()
        },
      }),
    ],
  })
  const writer = (name: keyof Logger): Logger['info'] =>
    // winston formats a line before it checks the level, which costs 10 µs for each debug line that is not written.
    logger.isLevelEnabled(name)
      ? (message, fields) => void logger.log({ level: name, message, [FIELDS]: fields })
      : () => {}
  return { error: writer('error'), warn: writer('warn'), info: writer('info'), debug: writer('debug') }
}

const URGENT = ['error', 'warn']

function writeToStandardOutput(): (line: string, level: string) => void {
  const output = standardOutput()
  const { add } = gatherLines(output)
  return (text, level) => add({ text, isUrgent: URGENT.includes(level) })
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
  return { error: error.message, errorName: error.name, ...(causes.length > 0 && { causes }), stack: error.stack }
}

/** Fields with these names cannot be appended as they are. */
const SPECIAL = ['time', 'level', 'service', 'message', 'error']

function lineOf(level: string, service: string, message: string, fields: LogFields): string {
  const head = { time: new Date().toISOString(), level, service, message }
  if (SPECIAL.some((name) => name in fields)) {
    const { level: _, service: __, message: ___, error, ...rest } = fields
    return textOf({ ...head, ...rest, ...described(error) })
  }
  // Two texts instead of one object of all members: copying the fields takes longer than the rest of a line.
  const [headText, fieldsText] = [JSON.stringify(head), textOf(fields)]
  return fieldsText === '{}' ? headText : `${headText.slice(0, -1)},${fieldsText.slice(1)}`
}

/** winston's JSON format can write any object, at twice the cost. Only one with a bigint or a circular value needs it. */
function textOf(object: LogFields): string {
  try {
    return JSON.stringify(object)
  } catch {
    const written = anyValue.transform(object as winston.Logform.TransformableInfo, {}) as Record<symbol, unknown>
    return String(written[LINE])
  }
}

const anyValue = winston.format.json()

/** Error messages of client libraries may contain the URL that they failed to reach, with its user and password. */
export const withoutCredentials = (text: string): string =>
  // Most lines have no such character, and finding that out is much quicker than the expression.
  text.includes('@') ? text.replaceAll(/\/\/[^/?#\s"]*@/g, '//***@') : text
