import { type PlatformEvent, parseEvent, Unparsable } from '@switchhook/contracts'
import type { IncomingMessage } from '@switchhook/messaging'

/** @throws Unparsable for what is not an event, or was routed as another type than it says it is. */
export function parseEventMessage({
  content,
  routingKey,
}: Pick<IncomingMessage, 'content' | 'routingKey'>): PlatformEvent {
  const event = parseEvent(content)
  if (event.eventType !== routingKey) throw new Unparsable(`/eventType must be the routing key, which is ${routingKey}`)
  return event
}
