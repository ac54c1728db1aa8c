import type { ConsumeMessage } from 'amqplib'
import { COPY_HEADER, EVENTS_EXCHANGE } from '../topology/topology.ts'

export interface IncomingMessage {
  readonly content: Buffer
  readonly headers: Readonly<Record<string, unknown>>
  readonly exchange: string
  readonly routingKey: string
  readonly messageId: string | undefined
  /** The AMQP property `type`. */
  readonly type: string | undefined
  /** The broker has delivered it before, to this or another consumer. */
  readonly redelivered: boolean
}

export const toIncoming = ({ content, fields, properties }: ConsumeMessage): IncomingMessage => ({
  content,
  headers: properties.headers ?? {},
  exchange: fields.exchange,
  routingKey: fields.routingKey,
  messageId: textOrUndefined(properties.messageId),
  type: textOrUndefined(properties.type),
  redelivered: fields.redelivered,
})

const textOrUndefined = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/**
 * A copy of an event whose original is in the queue as well. It arrives in fan-out's queue when a process of an earlier
 * version has declared that version's binding again.
 */
export const isCopy = ({ exchange, headers }: Pick<IncomingMessage, 'exchange' | 'headers'>): boolean =>
  exchange === EVENTS_EXCHANGE && headers[COPY_HEADER] === true
