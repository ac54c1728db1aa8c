export interface Clocks {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Monotonic, in ms: the clock of leases and waits. */
  readonly nowMs: () => number
}
