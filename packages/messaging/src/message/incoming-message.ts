import type { ConsumeMessage } from 'amqplib'
import { COPY_HEADER, EVENTS_EXCHANGE } from '../topology/topology.ts'

export type IncomingMessage = Readonly<ReturnType<typeof toIncoming>>

export const toIncoming = ({ content, fields, properties }: ConsumeMessage) => ({
  content,
  headers: (properties.headers ?? {}) as Readonly<Record<string, unknown>>,
  exchange: fields.exchange,
  routingKey: fields.routingKey,
  messageId: textOrUndefined(properties.messageId),
  /** The AMQP property `type`. */
  type: textOrUndefined(properties.type),
  /** The broker has delivered it before, to this or another consumer. */
  redelivered: fields.redelivered,
})

const textOrUndefined = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/**
 * A copy of an event whose original is in the queue as well. It arrives in fan-out's queue when a process of an earlier
 * version has declared that version's binding again.
 */
export const isCopy = ({ exchange, headers }: Pick<IncomingMessage, 'exchange' | 'headers'>): boolean =>
  exchange === EVENTS_EXCHANGE && headers[COPY_HEADER] === true
