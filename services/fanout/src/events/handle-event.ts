import {
  type Delivery,
  firstDeliveriesOf,
  type PlatformEvent,
  parseEvent,
  readTraceparent,
  subjectOf,
  traceIdOf,
  Unparsable,
} from '@switchhook/contracts'
import { createUnfinishedParts, type IncomingMessage, REVISION_HEADER, UNPACKED_HEADER } from '@switchhook/messaging'
import { eventSpan, type Logger, spanned, type Tracing, tracePublishDelivery } from '@switchhook/runtime'
import type { createMatching, LoggedEvent, MatchedSubscription } from '@switchhook/store'

/**
 * RabbitMQ's "Move messages" and shovels publish through it, straight to a queue: the routing key is then the queue's name,
 * and says nothing about the event.
 */
const DEFAULT_EXCHANGE = ''

/**
 * The event of a message, or of a member of a packet. Leaves out an invalid trace context.
 * @throws Unparsable if the content is not an event
 */
export function parseContent(content: Buffer, headers: { traceparent?: unknown; revision?: unknown }): PlatformEvent {
  const traceparent = readTraceparent(headers.traceparent)
  const { revision } = headers
  return {
    ...parseEvent(content),
    ...(traceparent !== undefined && { traceparent }),
    ...(typeof revision === 'string' && { revision }),
  }
}

export type ReceivedEvent = ReturnType<typeof parseEventMessage>

/**
 * @param queue from which the message was consumed
 * @throws Unparsable for a message that is not an event, or that an exchange routed by another type than the event's
 */
export function parseEventMessage(
  { content, exchange, routingKey, headers }: Pick<IncomingMessage, 'content' | 'exchange' | 'routingKey' | 'headers'>,
  queue: string,
) {
  const event = parseContent(content, { traceparent: headers['traceparent'], revision: headers[REVISION_HEADER] })
  if (event.eventType !== routingKey && exchange !== DEFAULT_EXCHANGE)
    throw new Unparsable(`/eventType must be the routing key, which is ${routingKey}`)
  /** `isUnpacked`: it came out of a packet and must not be packed again. */
  return { event, content, queue, isUnpacked: headers[UNPACKED_HEADER] === true }
}

export interface HandleEventDeps {
  /** Those that receive the event. Rejects if the subscriptions cannot be read: an error must never look like "no subscriptions". */
  readonly matching: ReturnType<typeof createMatching>
  /** Milliseconds since 1970. */
  readonly hostNow: () => number
  /** Called with each event whose deliveries are all stored. Returns immediately and never throws. */
  readonly fannedOut: (event: LoggedEvent, tookMs: number) => void
  readonly log: Pick<Logger, 'debug'>
}

/** Deliveries of one event that await their confirms at the same time: enough to fill packets, few enough to be fair to others. */
const DELIVERIES_AT_ONCE = 320
/** The bodies of these: an event can have 256 KB and 100,000 subscriptions, and all of its bodies would not fit into memory. */
const BYTES_AT_ONCE = 2 * 1024 * 1024

/**
 * Resolves to the number of deliveries: each is stored, so the event may be acknowledged. Rejected: the event must be retried;
 * this process then publishes only deliveries that were not stored. The same event always gives the same ids and bodies, so
 * repeating it only causes duplicates that receivers recognise.
 * @param publishDelivery resolves once the delivery is stored
 */
export type HandleEvent = (
  event: PlatformEvent,
  publishDelivery: (delivery: Delivery) => Promise<void>,
) => Promise<number>

export function createHandleEvent({ matching, hostNow, fannedOut, log }: HandleEventDeps): HandleEvent {
  const publishUnfinished = createUnfinishedParts(({ id }: MatchedSubscription) => id)

  return async function handleEvent(event, publishDelivery) {
    const { eventId, eventType, tenant, occurredAt, traceparent, data, revision } = event
    const startedAt = performance.now()
    const receivers = await matching(tenant, eventType, data, revision)
    const fannedOutAt = new Date(hostNow()).toISOString()
    // Serialised once, for all bodies and for the journal.
    const dataJson = JSON.stringify(data)
    const deliveryTo = firstDeliveriesOf(event, fannedOutAt, dataJson)
    const publish = (receiver: MatchedSubscription): Promise<void> => publishDelivery(deliveryTo(receiver))
    const fitting = Math.max(1, Math.floor(BYTES_AT_ONCE / Buffer.byteLength(dataJson)))
    await publishUnfinished(eventId, receivers, publish, Math.min(DELIVERIES_AT_ONCE, fitting))
    const subscriptionIds = receivers.map(({ id }) => id)
    const logged = { eventId, eventType, tenant, occurredAt, subject: subjectOf(data), dataJson }
    fannedOut({ ...logged, fannedOutAt, subscriptionIds }, performance.now() - startedAt)
    const trace = traceparent !== undefined && { traceId: traceIdOf(traceparent) }
    log.debug('event fanned out', { ...trace, eventId, eventType, tenant, deliveries: receivers.length })
    return receivers.length
  }
}

/** `queue`: from which the event was consumed, alone or in a packet. */
export type HandleFromQueue = (...its: [...Parameters<HandleEvent>, queue: string]) => Promise<number>

/** Adds a span around the fan-out of an event, and so a trace context. Each delivery gets a span. */
export const traceEvents =
  (tracing: Tracing, handle: HandleEvent): HandleFromQueue =>
  (event, publishDelivery, queue) =>
    spanned(tracing, eventSpan(event, 'process', queue), ({ traceparent }) =>
      handle({ ...event, traceparent }, tracePublishDelivery(tracing, publishDelivery)),
    )
