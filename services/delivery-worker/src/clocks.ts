export interface Clocks {
  /** Milliseconds since 1970: a worker whose own clock is wrong expires and releases nothing early. */
  readonly redisNow: () => number
  /** Monotonic, in ms: the clock of leases and waits. */
  readonly nowMs: () => number
}
