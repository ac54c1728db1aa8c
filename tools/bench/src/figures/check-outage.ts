import { checkEvents, type HeardEvent } from './check-events.ts'

/** An event that an endpoint received. */
export interface ReceivedEvent extends HeardEvent {
  readonly deliveryId: string
  /** ISO 8601. */
  readonly occurredAt: string
  /** Arrival of its POST, ms since 1970. */
  readonly atMs: number
}

export interface OutageResult {
  /** Calls that the api accepted before, during and after the outage. */
  readonly calls: number
  /** Events that occurred during the outage. */
  readonly accepted: number
  /** From the broker's return to the first POST, and to the last POST of events that occurred before the return. */
  readonly firstMs: number
  readonly allMs: number
  /** Calls without events, gaps within calls, and calls without an end. */
  readonly lost: number
  /** Deliveries that arrived more than once. */
  readonly repeated: number
}

/** Effect of an outage on the events of the calls. */
export function checkOutage(
  calls: readonly string[],
  told: readonly ReceivedEvent[],
  diedAtMs: number,
  returnedAtMs: number,
): OutageResult {
  const byDelivery = new Map(told.toReversed().map((event) => [event.deliveryId, event]))
  const events = [...byDelivery.values()]
  const { missing, unended } = checkEvents(events)
  const known = new Set(events.map(({ data }) => data.callId))
  const untold = calls.filter((callId) => !known.has(callId)).length
  const occurredMs = ({ occurredAt }: ReceivedEvent): number => Date.parse(occurredAt)
  const after = events.filter(({ atMs }) => atMs >= returnedAtMs)
  const late = after.filter((event) => occurredMs(event) < returnedAtMs).map(({ atMs }) => atMs - returnedAtMs)
  return {
    calls: calls.length,
    accepted: events.filter((event) => occurredMs(event) >= diedAtMs && occurredMs(event) < returnedAtMs).length,
    firstMs: late.reduce((least, ms) => Math.min(least, ms), late[0] ?? 0),
    allMs: late.reduce((most, ms) => Math.max(most, ms), 0),
    lost: untold + missing + unended,
    repeated: told.length - events.length,
  }
}
