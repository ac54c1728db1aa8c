interface StateFacts {
  /**
   * The next attempt of the run. `due`: it is about to be made, or in progress. `scheduled`: its message waits in the broker.
   * `held`: its message is in Redis. `none`: the run is over.
   */
  readonly next: 'due' | 'scheduled' | 'held' | 'none'
  /** How long the record is kept: for its schedule, or for the retention of parked or of finished deliveries. */
  readonly kept: 'schedule' | 'parked' | 'finished'
}

/** The states of a delivery, as people see it. `held`: it is due, and kept in Redis because its subscription is paused, received or at its limits. */
const STATES = {
  pending: { next: 'due', kept: 'finished' },
  waiting: { next: 'scheduled', kept: 'schedule' },
  held: { next: 'held', kept: 'parked' },
  acknowledged: { next: 'none', kept: 'finished' },
  parked: { next: 'none', kept: 'parked' },
  withdrawn: { next: 'none', kept: 'finished' },
  expired: { next: 'none', kept: 'finished' },
} as const satisfies Record<string, StateFacts>

export type DeliveryState = keyof typeof STATES

export const DELIVERY_STATES = Object.keys(STATES) as readonly DeliveryState[]

/** A newer version may have stored another state: nothing is known to follow it. */
export const factsOfState = (state: string): StateFacts =>
  (STATES as Readonly<Record<string, StateFacts>>)[state] ?? { next: 'none', kept: 'finished' }
