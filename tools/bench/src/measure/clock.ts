/** Milliseconds of the machine's monotonic clock, comparable between its processes. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6
