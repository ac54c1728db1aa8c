import winston from 'winston'
import { withoutCredentials } from './without-credentials.ts'

/** What a log line may carry beside its message: ids and measures, never urls with credentials, tokens or bodies. */
export type LogFields = Readonly<Record<string, unknown>>

/**
 * Levels say who must care. error: a person must act. warn: it heals itself, but look if it stays. info: the ordinary
 * life of the service, a subscriber's failures included. debug: for developers.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
}

/** Where winston keeps the finished line. */
const LINE = Symbol.for('message')

/** JSON lines on standard output, each with `time`, `level`, `service` and `message`; no url shows its credentials. */
export function createLogger(service: string, level: string, stream: NodeJS.WritableStream = process.stdout): Logger {
  const logger = winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format((info) => {
      const { level: lineLevel, service: _, message, error, ...fields } = info
      const line = {
        time: new Date().toISOString(),
        level: lineLevel,
        service,
        message,
        ...fields,
        ...described(error),
      }
      // Only the finished text shows every url, those inside of errors included.
      return { ...info, [LINE]: withoutCredentials(textOf(line)) }
    })(),
    transports: [new winston.transports.Stream({ stream })],
  })
  const writer = (name: keyof Logger): Logger['info'] =>
    // winston formats a line before it asks for the level: 10 µs for each debug line that is not written.
    logger.isLevelEnabled(name) ? (message, fields) => void logger.log(name, message, fields ?? {}) : () => {}
  return { error: writer('error'), warn: writer('warn'), info: writer('info'), debug: writer('debug') }
}

/** Ends even a chain that leads back to itself. */
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

/** A line with a bigint or a circle is rare; winston's own format writes any line, at twice the cost. */
function textOf(line: LogFields): string {
  try {
    return JSON.stringify(line)
  } catch {
    const { [LINE]: text } = anyValue.transform({ level: '', message: '', ...line }, {}) as Record<symbol, unknown>
    return String(text)
  }
}

const anyValue = winston.format.json()
