export const text = (description: string, example: string) =>
  ({ type: 'string', description, examples: [example] }) as const

export const count = (description: string, example: number) =>
  ({ type: 'integer', minimum: 0, description, examples: [example] }) as const

/** A bound of a window in a query. */
export const time = (description: string, example = '2026-11-20T17:00:00Z') =>
  ({ type: 'string', format: 'date-time', description, examples: [example] }) as const
