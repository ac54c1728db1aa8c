import { component } from './component.ts'
import type { Schema } from './route.ts'

/** Of a list that is read page by page, the newest item first. */
export const pageSchema = (name: string, description: string, item: Schema) =>
  component(name, {
    type: 'object',
    description,
    required: ['items', 'nextCursor'],
    properties: {
      items: { type: 'array', description: 'The items of this page, the newest first.', items: item },
      nextCursor: {
        type: ['string', 'null'],
        description:
          'The `cursor` of the next page, to be sent with the same other parameters; null: this is the last page. ' +
          'A page can have fewer items than `limit`, or none, and still have a next page.',
        examples: [null],
      },
    },
  })

/** The query parameters of such a list. */
export const pageParameters = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'The most items of a page.',
    examples: [20],
  },
  cursor: {
    type: 'string',
    maxLength: 512,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `nextCursor` of the previous page. The other parameters must be the same as for that page.',
  },
} as const
