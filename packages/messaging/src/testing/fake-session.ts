import { EventEmitter } from 'node:events'
import type { ChannelModel, ConsumeMessage } from 'amqplib'
import type { Session } from '../link/session.ts'

type Answer = () => Promise<unknown>
type Receive = (message: ConsumeMessage | null) => void

/** A connection with one channel, whose broker gives the answers that the test sets. */
export interface FakeSession extends Session {
  readonly channel: EventEmitter
  /** The requests on the channel, in order. */
  readonly requests: readonly string[]
  readonly failures: readonly Error[]
  readonly receive: Receive
}

export const never: Answer = () => new Promise(() => {})

export function fakeSession(answers: Readonly<Record<string, Answer>> = {}): FakeSession {
  const requests: string[] = []
  const failures: Error[] = []
  let receive: Receive | undefined
  const request = (name: string): Promise<unknown> => {
    requests.push(name)
    return (answers[name] ?? (() => Promise.resolve({})))()
  }
  const channel = Object.assign(new EventEmitter(), {
    prefetch: () => request('prefetch'),
    consume: (_queue: string, take: Receive) => {
      receive = take
      return request('consume')
    },
    cancel: () => request('cancel'),
    checkQueue: () => request('checkQueue'),
    close: () => request('close'),
    ack: () => void requests.push('ack'),
    nack: () => void requests.push('nack'),
    reject: () => void requests.push('reject'),
  })
  return {
    model: { createChannel: () => request('open').then(() => channel) } as unknown as ChannelModel,
    channel,
    requests,
    failures,
    fail: (error) => void failures.push(error),
    receive: (message) => receive?.(message),
  }
}

export const fakeMessage = (deliveryTag = 1, content = '{}'): ConsumeMessage =>
  ({
    content: Buffer.from(content),
    fields: { deliveryTag, redelivered: false, exchange: '', routingKey: '', consumerTag: '' },
    properties: { headers: {} },
  }) as ConsumeMessage
