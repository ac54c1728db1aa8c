import type { IncomingMessage } from 'node:http'
import { AppError } from '@switchhook/contracts'

const MAX_BODY_BYTES = 64 * 1024

/**
 * Reads the JSON body of a request; undefined if the body is empty, which only the end of a chunked body shows. Express' own
 * parser is not used: it replaces broken UTF-8 silently, and it reads a body that is too large to its end before it answers.
 * @throws AppError `unsupported-media-type`, `body-too-large` or `malformed-json`
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  return parse(await read(request, unsupportedType(request)))
}

/** For a route that requires a body. It counts more than a wrong content type, which may be missing as well. */
export const noBody = (): AppError =>
  new AppError('malformed-json', { detail: 'There is no body; send a JSON object, as application/json' })

/** Why a body with these headers cannot be read; undefined: it can. */
function unsupportedType(request: IncomingMessage): AppError | undefined {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean)
  if (type.trim() !== 'application/json') return new AppError('unsupported-media-type')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    return new AppError('unsupported-media-type', { detail: 'The charset must be utf-8' })
  }
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    return new AppError('unsupported-media-type', { detail: 'The body must not be compressed' })
  }
  return undefined
}

/** @param refusal the error for a body that is not empty; an empty body has no type */
function read(request: IncomingMessage, refusal: AppError | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (error: AppError): void => {
      chunks.length = 0
      request.removeAllListeners('data')
      // The rest of the body is discarded so that the client can read the answer; the server's request timeout ends it.
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
    // The client has gone, so no answer is sent; the error only ends the handling.
    request.once('error', () => reject(new AppError('malformed-json', { detail: 'The body ended early' })))
    return undefined
  })
}

function parse(body: Buffer): unknown {
  if (body.length === 0) return undefined
  const text = decode(body)
  try {
    return JSON.parse(text)
  } catch (error) {
    // The parser's own message quotes the body.
    const detail = 'The body is no JSON: it may be cut off, or hold what JSON does not know, such as a comment'
    throw new AppError('malformed-json', { detail }, { cause: error })
  }
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw new AppError('malformed-json', { detail: 'The body is not in UTF-8' }, { cause: error })
  }
}
