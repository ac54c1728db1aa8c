import { AppError } from '@switchhook/contracts'

/** What clients see of a place in a list: opaque, and only good for the kind of list that has given it. */
export interface ListCursor {
  of(place: string): string
  /** @throws AppError `invalid-request` for a cursor that no list of this kind has given */
  parse(cursor: string): string
}

/** @param kind keeps it from being taken for a place in another kind of list */
export function createListCursor(kind: string, place: RegExp): ListCursor {
  return {
    of: (since) => Buffer.from(`${kind}${since}`).toString('base64url'),
    parse(cursor) {
      const text = Buffer.from(cursor, 'base64url').toString()
      const since = text.slice(kind.length)
      if (text.startsWith(kind) && place.test(since)) return since
      throw new AppError('invalid-request', {
        errors: [{ pointer: '/cursor', detail: 'is not a cursor of this list' }],
      })
    },
  }
}

/** Of a list by time in µs, as Redis writes it. */
export const MICROSECONDS = /^\d{1,16}$/
