import type { Schema } from './route.ts'
import { completeComponent, integer, orNull, text } from './schema-parts.ts'

/** The field of a page that leads to the next one. */
export const nextCursorSchema = orNull(
  text(
    'The `cursor` of the next page; null: this is the last page. Send it with the same other parameters. ' +
      'A page can have fewer items than `limit`, or none, and still have a next page.',
    null,
  ),
)

/** Schema of one page of a list. @param order of the items, as part of a sentence */
export const pageSchema = (name: string, description: string, item: Schema, order = 'newest first') =>
  completeComponent(name, description, {
    items: { type: 'array', description: `The items of this page, ${order}.`, items: item },
    nextCursor: nextCursorSchema,
  })

export const pageParameters = {
  limit: integer('The maximum number of items per page.', 20, { minimum: 1, maximum: 100, default: 20 }),
  cursor: {
    type: 'string',
    maxLength: 512,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `nextCursor` of the previous page. Send the same other parameters as for that page.',
  },
} as const
