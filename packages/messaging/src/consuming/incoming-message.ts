import type { ConsumeMessage } from 'amqplib'

/** A message as a parser sees it. */
export interface IncomingMessage {
  readonly content: Buffer
  readonly headers: Readonly<Record<string, unknown>>
  readonly exchange: string
  readonly routingKey: string
  readonly messageId: string | undefined
  /** The AMQP property `type`. */
  readonly type: string | undefined
  /** It was handed out before, to this or another consumer. */
  readonly redelivered: boolean
}

export function toIncoming({
  content,
  fields,
  properties,
}: Pick<ConsumeMessage, 'content' | 'properties'> & { fields: Fields }): IncomingMessage {
  return {
    content,
    headers: properties.headers ?? {},
    exchange: fields.exchange,
    routingKey: fields.routingKey,
    messageId: textOrNothing(properties.messageId),
    type: textOrNothing(properties.type),
    redelivered: fields.redelivered,
  }
}

type Fields = Pick<ConsumeMessage['fields'], 'exchange' | 'routingKey' | 'redelivered'>

const textOrNothing = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
