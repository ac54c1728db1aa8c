import type { Subscription } from '@switchhook/contracts'
import { createListCursor } from '@switchhook/store'

/** Of one answer: half a megabyte. */
export const MAX_PAGE = 1_000

export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

interface Page {
  readonly items: readonly Subscription[]
  /** Asks for the next page; null on the last. */
  readonly nextCursor: string | null
}

/** In the order of the list: what is created later, or deleted meanwhile, shifts no page. */
type Place = Pick<Subscription, 'createdAt' | 'id'>

export const pageQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE,
    default: MAX_PAGE,
    description: 'How many at most.',
    examples: [100],
  },
  cursor: {
    type: 'string',
    maxLength: 128,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'As the `Link` of the previous page has it.',
  },
} as const

/**
 * A page of subscriptions.
 * @param all the oldest first
 * @throws AppError `invalid-request` for a cursor that this list has not given
 */
export function pageOf(all: readonly Subscription[], { limit, cursor }: PageQuery): Page {
  const after = cursor === undefined ? undefined : parseCursor(cursor)
  const left = after === undefined ? all : all.filter((subscription) => isAfter(subscription, after))
  const items = left.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: last === undefined || left.length === items.length ? null : cursorOf(last) }
}

const isAfter = (a: Place, b: Place): boolean => (a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt)

const cursors = createListCursor('', /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z [0-9a-f-]{36}$/)

const cursorOf = ({ createdAt, id }: Place): string => cursors.of(`${createdAt} ${id}`)

function parseCursor(cursor: string): Place {
  const [createdAt = '', id = ''] = cursors.parse(cursor).split(' ')
  return { createdAt, id: id as Subscription['id'] }
}
