import { Unavailable } from '@switchhook/contracts'
import type { ConsumeMessage, Options } from 'amqplib'
import type { PublishFailure } from '../broker-meter.ts'

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

export interface OutgoingMessage {
  readonly exchange: string
  readonly routingKey: string
  readonly content: Buffer
  readonly properties: Readonly<
    Pick<
      Options.Publish,
      'appId' | 'contentEncoding' | 'contentType' | 'correlationId' | 'headers' | 'messageId' | 'timestamp' | 'type'
    >
  >
}

export type Route = Pick<OutgoingMessage, 'exchange' | 'routingKey'>

/** A message was not stored, or it is not known whether it was. */
export class NotStored extends Unavailable {
  readonly reason: Exclude<PublishFailure, 'copy'>

  constructor(reason: NotStored['reason'], message: string, options?: ErrorOptions) {
    super('rabbitmq', message, options)
    this.reason = reason
  }
}
