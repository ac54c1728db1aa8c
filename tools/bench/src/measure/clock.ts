/** Milliseconds of the machine's monotonic clock: the same in all its processes, and no step of the time of day moves it. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6
