import type { Subscription } from '@switchhook/contracts'
import { createListCursor } from '../list-cursor.ts'

export interface SubscriptionQuery {
  readonly limit: number
  readonly cursor?: string
}

export interface SubscriptionPage {
  /** In the order of their places. */
  readonly items: readonly Subscription[]
  /** For the next page; null on the last. */
  readonly nextCursor: string | null
}

/**
 * The place of a subscription in the list of its tenant: `<createdAt> <id>`. Places sort by age as plain text, because
 * `createdAt` has a fixed width, and neither part ever changes. So no write moves a subscription to another page.
 */
export const placeOf = ({ createdAt, id }: Pick<Subscription, 'createdAt' | 'id'>): string => `${createdAt} ${id}`

const cursors = createListCursor('', /^\d{4}-\d{2}-\d{2}T[\d:.]{8,12}Z [0-9a-f-]{36}$/)

/** The place after which a page begins; '' for the first page. @throws AppError `invalid-request` for an unknown cursor */
export const placeBefore = ({ cursor }: SubscriptionQuery): string =>
  cursor === undefined ? '' : cursors.parse(cursor)

/** A page of subscriptions. @param following those after the cursor in their order; one more than the limit is enough */
export function pageOf(following: readonly Subscription[], limit: number): SubscriptionPage {
  const items = following.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: last === undefined || following.length === items.length ? null : cursors.of(placeOf(last)),
  }
}

export const inOrder = (subscriptions: readonly Subscription[]): Subscription[] =>
  subscriptions
    .map((subscription) => ({ subscription, place: placeOf(subscription) }))
    .toSorted((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)))
    .map(({ subscription }) => subscription)
