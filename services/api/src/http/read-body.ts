import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { AppError, compileSchema, type Fault, settableNames, UNKNOWN_FIELD } from '@switchhook/contracts'
import { inexactValues } from './exact-values.ts'
import type { Route, RouteSpec } from './route.ts'
import type { Schema } from './schema.ts'

const MAX_BODY_BYTES = 64 * 1024

/**
 * Its function reads and validates the body of a request to this route. It resolves to undefined for a route without one.
 * @throws AppError `unsupported-media-type`, `body-too-large`, `malformed-json`, or the error of the validation
 */
export function createReadBody(route: Route): (request: IncomingMessage) => Promise<unknown> {
  if (route.body === undefined) return () => Promise.resolve(undefined)
  const schema = route.body
  const check = compileSchema<unknown>(schema)
  const described = Object.keys(schema['properties'] ?? {})
  const validate: NonNullable<Route['validate']> =
    route.validate ?? ((_body, faults) => (faults.length > 0 ? invalidBody(schema, faults) : undefined))
  return async (request) => {
    const text = hasNoBody(request) ? '' : decode(await read(request, unsupportedType(request)))
    // Only the end of a chunked body shows that it is empty.
    const body = text === '' ? absentBody(route) : parse(text)
    const result = check(body)
    const inexact = inexactValues(body, text, described)
    const faults = [...(result.ok ? [] : result.faults), ...inexact]
    // A rule of a route may look at other faults first.
    const error = validate(body, faults) ?? (inexact.length > 0 ? invalidBody(schema, inexact) : undefined)
    if (error !== undefined) throw error
    return body
  }
}

export const invalidBody = (schema: Schema, errors: readonly Fault[]): AppError =>
  new AppError('invalid-request', { detail: `The body is not valid.${allowedFields(schema, errors)}`, errors })

/** Lists the allowed fields if the body has another one. */
export const allowedFields = (schema: Schema, errors: readonly Fault[]): string =>
  errors.some(({ detail }) => detail.startsWith(UNKNOWN_FIELD))
    ? ` Allowed fields: ${settableNames(schema).join(', ')}.`
    : ''

/** The value to validate if the request has no body. @throws AppError `malformed-json` if the route requires a body */
function absentBody({ isBodyOptional, validatesAbsentBody }: RouteSpec): object | undefined {
  if (isBodyOptional === true) return {}
  if (validatesAbsentBody === true) return undefined
  // Reported before a wrong content type, which may be missing as well.
  throw new AppError('malformed-json', { detail: 'There is no body; send a JSON object, as application/json.' })
}

/** The headers say that there is no body (RFC 9112, section 6.3). */
const hasNoBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0

/** The error for a body with these headers; undefined: the body can be read. */
function unsupportedType(request: IncomingMessage): AppError | undefined {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters.map(charsetIn).find(Boolean)
  if (type.trim() !== 'application/json') return new AppError('unsupported-media-type')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    return new AppError('unsupported-media-type', { detail: 'The charset must be utf-8.' })
  }
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return new AppError('unsupported-media-type', { detail: 'The body must not be compressed.' })
  }
  return undefined
}

/** The value of a parameter `charset="utf-8"`, if it is one. */
function charsetIn(parameter: string): string | undefined {
  const [name = '', value = ''] = parameter.split('=', 2)
  return name.trim() === 'charset' ? value.trim().replaceAll('"', '') : undefined
}

/**
 * Express' own parser replaces invalid UTF-8 silently, and reads a body that is too large to its end before it answers.
 * @param refusal the error for a body that is not empty; the type of an empty body does not matter
 */
function read(request: IncomingMessage, refusal: AppError | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (error: AppError): void => {
      chunks.length = 0
      request.removeAllListeners('data')
      // Discard the rest, so that the client can read the answer. The server limits the time for this.
      request.resume()
      reject(error)
    }
    const announced = Number(request.headers['content-length'] ?? 0)
    if (announced > 0 && refusal !== undefined) return refuse(refusal)
    if (announced > MAX_BODY_BYTES) return refuse(new AppError('body-too-large'))
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (refusal !== undefined) refuse(refusal)
      else if (size > MAX_BODY_BYTES) refuse(new AppError('body-too-large'))
      else chunks.push(chunk)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    // The client has disconnected: no answer is sent, the error only ends the handling.
    request.once('error', () => reject(new AppError('malformed-json', { detail: 'The body ended early.' })))
    return undefined
  })
}

function decode(body: Buffer): string {
  if (!isUtf8(body)) throw new AppError('malformed-json', { detail: 'The body is not valid UTF-8.' })
  return utf8.decode(body)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The parser's own message would quote the body.
    throw new AppError('malformed-json', { detail: 'The body is not valid JSON.' }, { cause: error })
  }
}

/** Ignores a byte order mark, which `toString` would keep. */
const utf8 = new TextDecoder()
