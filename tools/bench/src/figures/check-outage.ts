import { CallState } from '@switchhook/contracts'

/** A `call.status` event that an endpoint received. */
export interface ReceivedEvent {
  readonly deliveryId: string
  /** ISO 8601. */
  readonly occurredAt: string
  /** Arrival of its POST, ms since 1970. */
  readonly atMs: number
  readonly data: { readonly callId: string; readonly sequence: number; readonly state: number }
}

export interface OutageResult {
  /** Calls that the api accepted before, during and after the outage. */
  readonly calls: number
  /** Events that occurred during the outage. */
  readonly accepted: number
  /** From the broker's return to the first POST, and to the last POST of events that occurred before the return. */
  readonly firstMs: number
  readonly allMs: number
  /** Calls of which an event is missing. */
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
  const byCall = Map.groupBy(events, ({ data }) => data.callId)
  const occurredMs = ({ occurredAt }: ReceivedEvent): number => Date.parse(occurredAt)
  const after = events.filter(({ atMs }) => atMs >= returnedAtMs)
  const late = after.filter((event) => occurredMs(event) < returnedAtMs).map(({ atMs }) => atMs - returnedAtMs)
  return {
    calls: calls.length,
    accepted: events.filter((event) => occurredMs(event) >= diedAtMs && occurredMs(event) < returnedAtMs).length,
    firstMs: late.reduce((least, ms) => Math.min(least, ms), late[0] ?? 0),
    allMs: late.reduce((most, ms) => Math.max(most, ms), 0),
    lost: calls.filter((callId) => !isWhole(byCall.get(callId) ?? [])).length,
    repeated: told.length - events.length,
  }
}

/** The events of a call are numbered from 1 without a gap, and the last one is its end. */
function isWhole(events: readonly ReceivedEvent[]): boolean {
  const states = new Map(events.map(({ data: { sequence, state } }) => [sequence, state]))
  return states.get(states.size) === CallState.ended
}
