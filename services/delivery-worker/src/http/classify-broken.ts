import type { Outcome } from '@switchhook/contracts'
import { classifyStatus, codeOf, explainedError } from '../policy/classify.ts'
import type { Use } from './connections.ts'

/**
 * The result of a request whose connection broke before a whole head arrived. With a `repeat`, the connection had been kept
 * open, and the request may be sent once more on a fresh one; `sent` is then a network error:
 * - `closed`: the server closed the connection before it answered, probably because it was idle, or before undici wrote the
 *   request to it.
 * - `stray`: what arrived is not an answer to this request.
 */
type Failed =
  | { readonly sent: Error | Outcome; readonly repeat?: undefined }
  | { readonly sent: Error; readonly repeat: 'closed' | 'stray' }

const HEAD_IS_CUT = 'the connection ended before the head of the answer did'

/** @param use of the connection. `unwritten`: it was open and broke before the request. Undefined: it was never open */
export function classifyBroken(error: Error, use: Use | 'unwritten' | undefined): Failed {
  if (use === 'unwritten') return { sent: error, repeat: 'closed' }
  if (error instanceof StrayAnswer) return { sent: malformed(error), repeat: 'stray' }
  const isReused = use?.isReused === true
  const isOdd = isProtocolError(error) || (isAssertion(error) && use?.isUnanswered === false)
  const isClosed = !isOdd && CLOSED.has(codeOf(error))
  if (isReused && isClosed && SENT_BY_PARSERS.has(use.status)) return { sent: error, repeat: 'stray' }
  // No header decides about a delivery, so a status has its full meaning without the rest of the head (RFC 9112, section 8).
  if (use !== undefined && use.status >= 200 && (isOdd || isClosed)) {
    const detail = isClosed ? HEAD_IS_CUT : `the head has an odd line: ${error.message}`
    return { sent: { ...classifyStatus(use.status), detail } }
  }
  if (use?.alert !== undefined) return { sent: use.alert }
  if (isClosed && isReused && use.isUnanswered) return { sent: error, repeat: 'closed' }
  if (!isOdd) return { sent: error }
  return isReused ? { sent: malformed(error), repeat: 'stray' } : { sent: malformed(error) }
}

/** An answer that is meant for something else than the request: the rest of the one before, which the server did not read. */
export class StrayAnswer extends Error {
  override readonly name = 'StrayAnswer'
}

/** What servers answer to bytes that are no request, or to none. They close the connection with it. */
export const SENT_BY_PARSERS: ReadonlySet<number> = new Set([400, 408, 414, 431, 501, 505])

const CLOSED: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const MALFORMED: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])

/** Undici gives a parser error no code, and an unexpected 101 the code of a lost connection. */
const isProtocolError = (error: Error): boolean =>
  error.name === 'HTTPParserError' || /^bad (response|upgrade)$/.test(error.message) || MALFORMED.has(codeOf(error))

/** Undici asserts that the status of an answer is at least 100. */
const isAssertion = (error: Error): boolean => codeOf(error) === 'ERR_ASSERTION'

const malformed = (error: Error): Error =>
  explainedError('HPE_MALFORMED', isAssertion(error) ? 'the status is below 100' : error.message, error)
