import { Unavailable } from '@switchhook/contracts'
import type { Deadline } from '@switchhook/runtime'
import type { ConfirmChannel, Options } from 'amqplib'
import type { PublishFailure } from '../meters.ts'

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

/** A publish that was sent. */
export interface Pending extends Route {
  readonly messageId: string | undefined
  readonly channel: ConfirmChannel
  readonly mode: PublishMode
  readonly sentAt: number
  readonly deadline: Deadline
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
  wasReturned: boolean
}

/** What publishes of one kind have in common. */
export interface PublishMode {
  readonly mandatory: boolean
  /** From sending to the confirm. 0: the publish does not wait for it. */
  readonly timeoutMs: number
  /** In the order of sending. */
  readonly inFlight: Set<Pending>
  /** The publish was not confirmed in time, and is no longer in flight. */
  readonly timedOut: (pending: Pending) => void
  /** Called with the reason why nothing was sent. */
  readonly notSent: (reason: PublishFailure) => void
  /** @param isLate the publish has timed out before; its result does not change any more */
  readonly refused: (pending: Pending, cause: Error, isLate: boolean) => void
  readonly confirmed: (pending: Pending, isLate: boolean) => void
}

export type Route = Pick<OutgoingMessage, 'exchange' | 'routingKey'>

/** Ends a publish. Returns whether it was in flight until now. */
export function land(pending: Pending): boolean {
  pending.deadline.stop()
  return pending.mode.inFlight.delete(pending)
}

export const unavailable = (cause?: Error): Unavailable =>
  new Unavailable('rabbitmq', 'not connected to RabbitMQ', cause && { cause })
