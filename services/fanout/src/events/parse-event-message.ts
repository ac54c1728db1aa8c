import { type PlatformEvent, parseEvent, readTraceparent, Unparsable } from '@switchhook/contracts'
import type { IncomingMessage } from '@switchhook/messaging'

/** A trace context that cannot be read is left out. @throws Unparsable for what is not an event, or was routed as another type than it says it is. */
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
