/** Redis' answer to TIME, seconds and microseconds, in ms. */
export const toMs = (time: readonly (string | number)[]): number => Number(time[0]) * 1_000 + Number(time[1]) / 1_000
