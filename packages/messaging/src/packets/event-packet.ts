import type { IncomingMessage } from '../message/incoming-message.ts'
import { decodePacket, encodePacket, malformed, type Packet } from './packet.ts'

export interface SingleEvent {
  /** The serialised event, not parsed again. */
  readonly content: Buffer
  readonly eventType: string
  readonly traceparent?: string
  /** See `PlatformEvent`. */
  readonly revision?: string
}

/** The AMQP type of a message whose members are events. */
export const EVENT_PACKET = 'event.packet'

/** Packs events. */
export const packEvents = (events: readonly SingleEvent[]): Buffer =>
  encodePacket(
    events.map(({ content, eventType, traceparent, revision }) => ({
      content,
      fields: [eventType, traceparent ?? null, ...(revision === undefined ? [] : [revision])],
    })),
  )

/** @throws Unparsable if the message is not a packet of events. The events themselves are not parsed. */
export const openEventPacket = (message: IncomingMessage): Packet<SingleEvent> =>
  decodePacket(message, ({ content, fields: [eventType, traceparent, revision] }): SingleEvent => {
    if (typeof eventType !== 'string' || (traceparent !== null && typeof traceparent !== 'string')) malformed()
    return {
      content,
      eventType,
      ...(traceparent !== null && { traceparent }),
      ...(typeof revision === 'string' && { revision }),
    }
  })
