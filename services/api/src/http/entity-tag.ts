import { hash } from 'node:crypto'
import { AppError } from '@switchhook/contracts'

/** An entity tag (RFC 9110, section 8.8.3). */
const TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/** A strong entity tag of this JSON value. */
export const entityTagOf = (value: unknown): string => `"${hash('sha256', JSON.stringify(value), 'base64url')}"`

/** @throws AppError `invalid-request` if the header is neither `*` nor a list of entity tags */
export function ifMatchOf(header: string | undefined): string | undefined {
  if (header === undefined || header === '*') return header
  const rest = header.replaceAll(TAG, '')
  if (rest !== header && !/[^\t ,]/.test(rest)) return header
  throw new AppError('invalid-request', {
    detail: 'If-Match must be * or the ETag of an earlier answer, with its quotation marks.',
  })
}

/** Compares strongly (RFC 9110, section 13.1.1): a weak tag never matches. @throws AppError `precondition-failed` */
export function requireMatch(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.match(TAG)?.includes(tag)) return
  throw new AppError('precondition-failed')
}
