/** Most subscriptions of one answer: half a megabyte. */
export const MAX_PAGE = 1_000

export const pageQuery = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE,
    default: MAX_PAGE,
    description: 'The most subscriptions to answer.',
    examples: [100],
  },
  cursor: {
    type: 'string',
    maxLength: 128,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The cursor in the `Link` header of the previous page. It does not expire.',
  },
} as const
