import { type Delivery, type DeliveryHeaders, deliveryHeaders } from '@switchhook/contracts'
import type { IncomingMessage } from '../message/incoming-message.ts'
import { decodePacket, encodePacket, malformed, type PackedMember, type Packet } from './packet.ts'

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
      if (whole !== undefined && isSameRest(whole.body, body)) {
        return { content: body.subarray(0, OWN_BYTES), fields: [headers, whole.at] }
      }
      whole = { body, at }
      return { content: body, fields: [headers] }
    }),
  )
}

const isSameRest = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && a.subarray(OWN_BYTES).equals(b.subarray(OWN_BYTES))

/** @throws Unparsable if the message is not a packet of deliveries. Their headers are not validated. */
export const openDeliveryPacket = (message: IncomingMessage): Packet<PackedDelivery> =>
  decodePacket(message, ({ content, fields: [headers, sharedWith] }, earlier): PackedDelivery => {
    if (typeof headers !== 'object' || headers === null) malformed()
    if (sharedWith === undefined) return { content, headers: { ...headers } }
    const whole = typeof sharedWith === 'number' ? earlier[sharedWith] : undefined
    if (whole === undefined) malformed()
    return { content: Buffer.concat([content, whole.content.subarray(content.length)]), headers: { ...headers } }
  })
