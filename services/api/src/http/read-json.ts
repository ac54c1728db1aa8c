import type { IncomingMessage } from 'node:http'
import { AppError } from '@switchhook/contracts'

const MAX_BODY_BYTES = 64 * 1024

/**
 * The request's JSON body; undefined if it turns out to have none, which one in chunks does not say beforehand. Express' own
 * parser is not used: it decodes broken UTF-8 into something that the client did not say, and it reads a body that is too
 * large to its end before it answers.
 * @throws AppError `unsupported-media-type`, `body-too-large` or `malformed-json`
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  assertJson(request)
  return parse(await read(request))
}

/** Of a request without one, where a body is required: whatever its type is, that is what is missing. */
export const noBody = (): AppError =>
  new AppError('malformed-json', { detail: 'There is no body; send a JSON object, as application/json' })

function assertJson(request: IncomingMessage): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';')
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean)
  if (type.trim() !== 'application/json') throw new AppError('unsupported-media-type')
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new AppError('unsupported-media-type', { detail: 'The charset must be utf-8' })
  }
  if ((request.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw new AppError('unsupported-media-type', { detail: 'The body must not be compressed' })
  }
}

function read(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const tooLarge = (): void => {
      chunks.length = 0
      request.removeAllListeners('data')
      // What still comes is thrown away, so that the client gets to read the answer; the server's request timeout ends it.
      request.resume()
      reject(new AppError('body-too-large'))
    }
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return tooLarge()
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BODY_BYTES) tooLarge()
      else chunks.push(chunk)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    // Nobody is left to be answered; what is thrown only ends the handling.
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
