/** The ISO 8601 form, in UTC, of a time in ms since 1970; null if there is none. */
export const momentOf = (ms: number | null | undefined): string | null =>
  ms == null ? null : new Date(ms).toISOString()
