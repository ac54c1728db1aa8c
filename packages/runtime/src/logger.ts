import winston from 'winston'

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

/** JSON lines on standard output, each with `time`, `level`, `service` and `message`. */
export function createLogger(service: string, level: string): Logger {
  return winston.createLogger({
    level,
    defaultMeta: { service },
    format: winston.format.combine(
      winston.format((info) => ({ ...info, time: new Date().toISOString() }))(),
      winston.format((info) => ({ ...info, ...(info['error'] instanceof Error && describeError(info['error'])) }))(),
      winston.format.json(),
    ),
    transports: [new winston.transports.Console()],
  })
}

function describeError(error: Error): LogFields {
  const causes: string[] = []
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    causes.push(withoutCredentials(cause.message))
  return {
    error: withoutCredentials(error.message),
    errorName: error.name,
    ...(causes.length > 0 && { causes }),
    stack: withoutCredentials(error.stack ?? ''),
  }
}

/** Client libraries like to quote the url that they could not reach, with its user and password. */
const withoutCredentials = (message: string): string => message.replaceAll(/\/\/[^/@\s]*@/g, '//***@')
