import {
  type Delivery,
  type EventType,
  type PlatformEvent,
  parseEvent,
  readTraceparent,
  subjectOf,
  traceIdOf,
  Unparsable,
} from '@switchhook/contracts'
import type { IncomingMessage } from '@switchhook/messaging'
import type { LoggedEvent, MatchedSubscription } from '@switchhook/store'
import pMap from 'p-map'
import { fanOut } from './fan-out.ts'

/**
 * Leaves out an invalid trace context.
 * @throws Unparsable for a message that is not an event, or whose routing key is not the event's type
 */
export function parseEventMessage({
  content,
  routingKey,
  headers,
}: Pick<IncomingMessage, 'content' | 'routingKey' | 'headers'>): PlatformEvent {
  const event = parseEvent(content)
  if (event.eventType !== routingKey) throw new Unparsable(`/eventType must be the routing key, which is ${routingKey}`)
  const traceparent = readTraceparent(headers['traceparent'])
  return traceparent === undefined ? event : { ...event, traceparent }
}

export interface HandleEventDeps {
  /** Rejects if the subscriptions cannot be read: an error must never look like "no subscriptions". */
  readonly matching: (tenant: string | null, eventType: EventType) => Promise<readonly MatchedSubscription[]>
  /** Resolves once the delivery is stored. */
  readonly publishDelivery: (delivery: Delivery) => Promise<void>
  readonly now: () => Date
  /** Called with each event whose deliveries are all stored. Returns at once and never throws. */
  readonly addToLog: (event: LoggedEvent) => void
  /** Called with each event whose deliveries are all stored. */
  readonly fannedOut: (event: PlatformEvent, deliveries: number, tookMs: number) => void
  readonly log: { debug(message: string, fields: Readonly<Record<string, unknown>>): void }
}

/** Publishes of one event that await their confirms in parallel: enough to hide the latency, few enough to be fair to others. */
const PARALLEL_PUBLISHES = 100

/** Resolved: every delivery of the event is stored, so the event may be acknowledged. Rejected: the event must be retried. */
export function createHandleEvent(deps: HandleEventDeps): (event: PlatformEvent) => Promise<void> {
  return async function handleEvent(event) {
    const { eventId, eventType, tenant, occurredAt, traceparent } = event
    const startedAt = performance.now()
    const subscriptions = await deps.matching(tenant, eventType)
    const fannedOutAt = deps.now().toISOString()
    // Serialised once, for all bodies and for the journal.
    const dataJson = JSON.stringify(event.data)
    const deliveries = fanOut(event, subscriptions, fannedOutAt, dataJson)
    const [first] = deliveries
    // Most events have one delivery, for which `pMap` would cost several promises.
    if (first !== undefined && deliveries.length === 1) await deps.publishDelivery(first)
    else await pMap(deliveries, (delivery) => deps.publishDelivery(delivery), { concurrency: PARALLEL_PUBLISHES })
    const subscriptionIds = deliveries.map(({ subscriptionId }) => subscriptionId)
    const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId)
    const subject = subjectOf(event.data)
    deps.addToLog({
      eventId,
      eventType,
      tenant,
      occurredAt,
      fannedOutAt,
      subscriptionIds,
      deliveryIds,
      subject,
      dataJson,
    })
    deps.fannedOut(event, deliveries.length, performance.now() - startedAt)
    deps.log.debug('event fanned out', {
      ...(traceparent !== undefined && { traceId: traceIdOf(traceparent) }),
      eventId,
      eventType,
      tenant,
      deliveries: deliveries.length,
    })
  }
}
