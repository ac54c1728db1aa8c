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
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(
      winston.format((info) => ({ ...info, time: new Date().toISOString() }))(),
      winston.format((info) => ({ ...info, ...(info['error'] instanceof Error && describeError(info['error'])) }))(),
      winston.format.json(),
      winston.format((info) => ({ ...info, [LINE]: withoutCredentials(String(info[LINE])) }))(),
    ),
    transports: [new winston.transports.Stream({ stream })],
  })
}

/** Ends even a chain that leads back to itself. */
const MAX_CAUSES = 10

function describeError(error: Error): LogFields {
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
