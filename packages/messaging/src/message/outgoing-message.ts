import { Unavailable } from '@switchhook/contracts'
import type { Options } from 'amqplib'
import type { PublishFailure } from '../broker-meter.ts'

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
