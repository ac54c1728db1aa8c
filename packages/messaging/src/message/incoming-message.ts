import type { ConsumeMessage } from 'amqplib'

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
