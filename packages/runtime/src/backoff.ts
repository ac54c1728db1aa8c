/**
 * The wait before a retry, in ms: doubles from `firstMs` up to `longestMs`.
 * @param retry counts from 0
 */
export const backoffMs = (retry: number, firstMs: number, longestMs: number): number =>
  Math.min(firstMs * 2 ** retry, longestMs)
