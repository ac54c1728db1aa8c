import { windowOf } from './read-time.ts'

/** Which part of a list, by time, and how much of it at a time; as the query says it. */
export interface Range {
  readonly from?: string
  readonly to?: string
  readonly limit: number
  readonly cursor?: string
}

/** The same for a store, in ms since 1970. @throws AppError `invalid-request`, as `windowOf` */
export const rangeOf = ({ from, to, limit, cursor }: Range) => ({
  limit,
  ...windowOf({ from, to }),
  ...(cursor !== undefined && { cursor }),
})
