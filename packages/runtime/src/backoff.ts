/** The wait before a retry (counted from 0), in ms: doubles from `firstMs` up to `longestMs`. */
export const backoffMs = (retry: number, firstMs: number, longestMs: number): number =>
  Math.min(firstMs * 2 ** retry, longestMs)
