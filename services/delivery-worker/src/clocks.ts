export interface Clocks {
  /** Milliseconds since 1970, by Redis's clock: a worker whose own clock is wrong expires and releases nothing early. */
  readonly now: () => number
  /** Monotonic, in ms: the clock of leases and waits. */
  readonly nowMs: () => number
}
