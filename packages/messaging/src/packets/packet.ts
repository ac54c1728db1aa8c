import { randomUUID } from 'node:crypto'
import { type Delivery, type DeliveryHeaders, deliveryHeaders, Unparsable } from '@switchhook/contracts'
import type { IncomingMessage } from '../message/message.ts'

/** Several members that travel in one message. Each is handled on its own; only the acknowledgement is shared. */
export interface Packet<Member> {
  /** Names the message when the broker delivers it again. */
  readonly id: string
  readonly members: readonly Member[]
  /** The returns that the broker has counted. From RabbitMQ 4.3 on it does not count a nack. */
  readonly returns: number
}

/** The fields are JSON values. */
type PackedMember = readonly [content: Buffer, ...fields: readonly unknown[]]

type IndexEntry = readonly [bytes: number, ...fields: readonly unknown[]]

const NEWLINE = 0x0a

/** A line of JSON that lists the members, `[bytes, ...fields]` each, then their contents without separators. */
function encodePacket(members: readonly PackedMember[]): Buffer {
  const index = members.map(([content, ...fields]): IndexEntry => [content.length, ...fields])
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...members.map(([content]) => content)])
}

/** Contents are views into the message. @throws Unparsable if the message is not a packet */
function decodePacket<Member>(
  { content, headers, messageId }: Pick<IncomingMessage, 'content' | 'headers' | 'messageId'>,
  memberOf: (packed: PackedMember, earlier: readonly Member[]) => Member,
): Packet<Member> {
  const end = content.indexOf(NEWLINE)
  const members: Member[] = []
  let at = end + 1
  for (const [bytes, ...fields] of readIndex(content.subarray(0, Math.max(0, end)))) {
    members.push(memberOf([content.subarray(at, at + bytes), ...fields], members))
    at += bytes
  }
  if (at !== content.length) throw new Unparsable(`the packet has ${content.length} bytes, its index says ${at}`)
  const returns = headers['x-delivery-count']
  return { id: messageId ?? randomUUID(), members, returns: typeof returns === 'number' ? returns : 0 }
}

function malformed(): never {
  throw new Unparsable('the index of the packet is malformed')
}

function readIndex(line: Buffer): readonly IndexEntry[] {
  let index: unknown
  try {
    index = JSON.parse(line.toString())
  } catch (error) {
    throw new Unparsable('the packet has no index', { cause: error })
  }
  return Array.isArray(index) && index.every(isIndexEntry) ? index : malformed()
}

const isIndexEntry = (entry: unknown): entry is IndexEntry =>
  Array.isArray(entry) && Number.isInteger(entry[0]) && entry[0] >= 0

/** A delivery as a member of a packet: the content and the headers that it has as a message of its own. */
export interface PackedDelivery {
  readonly content: Buffer
  /** Not validated. */
  readonly headers: { readonly [Header in keyof DeliveryHeaders]?: unknown }
}

/** Deliveries in one packet. More save little: RabbitMQ's cost of a message, divided by 16, is small compared with the rest. */
export const MAX_PACKET_MEMBERS = 16
/** The bodies in one packet, as a worker holds them. */
export const MAX_PACKET_BYTES = 128 * 1024

/** The bodies of one event differ only in these first bytes: `{"deliveryId":"…"`. */
const OWN_BYTES = 52

/** Packs deliveries. Neighbours of one event share the rest of their bodies. */
export function packDeliveries(deliveries: readonly Delivery[]): Buffer {
  let whole: { readonly body: Buffer; readonly at: number } | undefined
  return encodePacket(
    deliveries.map((delivery, at): PackedMember => {
      const { body } = delivery
      const headers = deliveryHeaders(delivery)
      if (whole !== undefined && isSameRest(whole.body, body)) return [body.subarray(0, OWN_BYTES), headers, whole.at]
      whole = { body, at }
      return [body, headers]
    }),
  )
}

const isSameRest = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && a.subarray(OWN_BYTES).equals(b.subarray(OWN_BYTES))

/** @throws Unparsable if the message is not a packet of deliveries. Their headers are not validated. */
export const openDeliveryPacket = (message: IncomingMessage): Packet<PackedDelivery> =>
  decodePacket(message, ([content, headers, sharedWith], earlier): PackedDelivery => {
    if (typeof headers !== 'object' || headers === null) malformed()
    if (sharedWith === undefined) return { content, headers: { ...headers } }
    const whole = typeof sharedWith === 'number' ? earlier[sharedWith] : undefined
    if (whole === undefined) malformed()
    return { content: Buffer.concat([content, whole.content.subarray(content.length)]), headers: { ...headers } }
  })

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

export const packEvents = (events: readonly SingleEvent[]): Buffer =>
  encodePacket(
    events.map(
      ({ content, eventType, traceparent = null, revision }): PackedMember =>
        revision === undefined ? [content, eventType, traceparent] : [content, eventType, traceparent, revision],
    ),
  )

/** @throws Unparsable if the message is not a packet of events. The events themselves are not parsed. */
export const openEventPacket = (message: IncomingMessage): Packet<SingleEvent> =>
  decodePacket(message, ([content, eventType, traceparent, revision]): SingleEvent => {
    if (typeof eventType !== 'string' || (traceparent !== null && typeof traceparent !== 'string')) malformed()
    return {
      content,
      eventType,
      ...(traceparent !== null && { traceparent }),
      ...(typeof revision === 'string' && { revision }),
    }
  })
