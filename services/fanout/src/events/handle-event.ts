import {
  type Delivery,
  type EventId,
  firstDeliveriesOf,
  type PlatformEvent,
  parseEvent,
  readTraceparent,
  receives,
  subjectOf,
  traceIdOf,
  Unparsable,
} from '@switchhook/contracts'
import { FinishedParts, type IncomingMessage, REVISION_HEADER, runAll } from '@switchhook/messaging'
import type { Logger } from '@switchhook/runtime'
import type { LoggedEvent, MatchedSubscription } from '@switchhook/store'

/**
 * Leaves out an invalid trace context.
 * @throws Unparsable for a message that is not an event, or whose routing key is not the event's type
 */
export function parseEventMessage(message: Pick<IncomingMessage, 'content' | 'routingKey' | 'headers'>): PlatformEvent {
  const { content, routingKey, headers } = message
  const event = parseEvent(content)
  if (event.eventType !== routingKey) throw new Unparsable(`/eventType must be the routing key, which is ${routingKey}`)
  const traceparent = readTraceparent(headers['traceparent'])
  const revision = headers[REVISION_HEADER]
  return {
    ...event,
    ...(traceparent !== undefined && { traceparent }),
    ...(typeof revision === 'string' && { revision }),
  }
}

/**
 * One delivery for each enabled subscription of the event's tenant to its type. The same event always gives the same ids
 * and bodies, so repeating it only causes duplicates that receivers recognise.
 * @param dataJson the event's data, serialised
 */
export function fanOut(
  event: PlatformEvent,
  subscriptions: readonly MatchedSubscription[],
  firstDueAt: string,
  dataJson = JSON.stringify(event.data),
): Delivery[] {
  const deliveryTo = firstDeliveriesOf(event, firstDueAt, dataJson)
  return subscriptions
    .filter((subscription) => subscription.tenant === event.tenant && receives(subscription, event.eventType))
    .map((subscription) => deliveryTo(subscription))
}

/** The stored deliveries of events that failed, for all handlers of the process, so that they share one limit. */
export const createStoredDeliveries = (): FinishedParts<Delivery> =>
  new FinishedParts(({ subscriptionId }) => subscriptionId)

export interface HandleEventDeps {
  readonly stored: FinishedParts<Delivery>
  /** Those that receive the event. Rejects if the subscriptions cannot be read: an error must never look like "no subscriptions". */
  readonly matching: (event: PlatformEvent) => Promise<readonly MatchedSubscription[]>
  /** Resolves once the delivery is stored. */
  readonly publishDelivery: (delivery: Delivery) => Promise<void>
  readonly now: () => Date
  /** Called with each event whose deliveries are all stored. Returns immediately and never throws. */
  readonly addToLog: (event: LoggedEvent) => void
  /** Called with each event whose deliveries are all stored. */
  readonly fannedOut: (event: PlatformEvent, deliveries: number, tookMs: number) => void
  readonly log: Pick<Logger, 'debug'>
}

/** Deliveries of one event that await their confirms at the same time: enough to fill packets, few enough to be fair to others. */
const DELIVERIES_AT_ONCE = 320

/**
 * Resolved: every delivery of the event is stored, so the event may be acknowledged. Rejected: the event must be retried;
 * only deliveries that were not stored are then published.
 */
export function createHandleEvent(deps: HandleEventDeps): (event: PlatformEvent) => Promise<void> {
  const { stored, matching, publishDelivery, now, addToLog, fannedOut, log } = deps

  async function publishAll(eventId: EventId, deliveries: readonly Delivery[]): Promise<void> {
    const missing = stored.left(eventId, deliveries)
    const [first] = missing
    // Most events have one delivery, for which `runAll` would cost several promises.
    if (first !== undefined && deliveries.length === 1) return await publishDelivery(first)
    for (let at = 0; at < missing.length; at += DELIVERIES_AT_ONCE) {
      const end = at + DELIVERIES_AT_ONCE
      const failed = await runAll(missing.slice(at, end), publishDelivery)
      if (failed === undefined) continue
      stored.remember(eventId, deliveries, [...failed.left, ...missing.slice(end)])
      throw failed.error
    }
    stored.forget(eventId)
  }

  return async function handleEvent(event) {
    const { eventId, eventType, tenant, occurredAt, traceparent } = event
    const startedAt = performance.now()
    const subscriptions = await matching(event)
    const fannedOutAt = now().toISOString()
    // Serialised once, for all bodies and for the journal.
    const dataJson = JSON.stringify(event.data)
    const deliveries = fanOut(event, subscriptions, fannedOutAt, dataJson)
    await publishAll(eventId, deliveries)
    const subscriptionIds = deliveries.map(({ subscriptionId }) => subscriptionId)
    const deliveryIds = deliveries.map(({ deliveryId }) => deliveryId)
    const subject = subjectOf(event.data)
    addToLog({ eventId, eventType, tenant, occurredAt, fannedOutAt, dataJson, subscriptionIds, deliveryIds, subject })
    fannedOut(event, deliveries.length, performance.now() - startedAt)
    const trace = traceparent !== undefined && { traceId: traceIdOf(traceparent) }
    log.debug('event fanned out', { ...trace, eventId, eventType, tenant, deliveries: deliveries.length })
  }
}
