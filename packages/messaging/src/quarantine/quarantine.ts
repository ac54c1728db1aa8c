import { Unavailable } from '@switchhook/contracts'
import type { Channel, GetMessage, Message } from 'amqplib'
import { type BrokerAddress, closeInTime, connectToAny, onOwnChannel, type Session } from '../link/session.ts'
import type { IncomingMessage, OutgoingMessage } from '../message/message.ts'
import { ORIGIN, type Origin, originalHeaders, propertiesOf } from '../message/quarantine-message.ts'
import { createPublisher, type Publisher } from '../publishing/publisher.ts'
import { assertTopology } from '../topology/assert-topology.ts'
import { Queue, serviceTopology } from '../topology/topology.ts'

export interface QuarantinedMessage extends Pick<IncomingMessage, 'messageId' | 'type' | 'headers' | 'content'> {
  /** undefined: the message was published to the quarantine by hand, so it cannot be sent back. */
  readonly origin: Origin | undefined
}

/** An operator's access to the messages that could not be handled. */
export type Quarantine = Awaited<ReturnType<typeof openQuarantine>>

/** Messages that are published in parallel, and held in memory meanwhile. */
const BATCH = 50

/** For a command-line tool, not for a service: does not wait for the broker. @throws Unavailable */
export async function openQuarantine({ name, ...address }: BrokerAddress & { readonly name: string }) {
  const model = await connectToAny(address, name)
  const session: Session = { model, fail: () => {} }
  await assertTopology(model, serviceTopology([]))
  const publisher = createPublisher({ changed: () => {} })
  await publisher.attach(session)

  return {
    /** Oldest first. The messages stay in quarantine. */
    list: (limit: number): Promise<QuarantinedMessage[]> =>
      onOwnChannel(model, async (channel) => (await take(channel, Queue.quarantine, limit)).map(describe)),
    /**
     * Sends the oldest messages back to their origin. A message that returns to quarantine meanwhile is not sent twice.
     * @returns `kept`: messages that stay, because their origin is unknown or no queue accepts them there
     */
    requeue: (limit: number) =>
      onOwnChannel(model, async (channel) => {
        const { messageCount } = await channel.checkQueue(Queue.quarantine)
        const total = Math.min(limit, messageCount)
        let [seen, requeued] = [0, 0]
        while (seen < total) {
          const batch = await take(channel, Queue.quarantine, Math.min(BATCH, total - seen))
          if (batch.length === 0) break
          const released = await Promise.all(batch.map((message) => release(publisher, message)))
          batch.forEach((message, at) => released[at] && channel.ack(message))
          seen += batch.length
          requeued += released.filter(Boolean).length
        }
        return { requeued, kept: seen - requeued }
      }),
    close: () => closeInTime(model),
  }
}

/** Takes messages without acknowledging them. */
export async function take(channel: Channel, queue: string, limit: number): Promise<GetMessage[]> {
  const messages: GetMessage[] = []
  while (messages.length < limit) {
    const message = await channel.get(queue)
    if (message === false) break
    messages.push(message)
  }
  return messages
}

async function release(publisher: Publisher, message: GetMessage): Promise<boolean> {
  const origin = originOf(message)
  if (origin === undefined) return false
  try {
    await publisher.publish(releasedMessage(message, origin))
    return true
  } catch (error) {
    if (error instanceof Unavailable) return false
    throw error
  }
}

function describe(message: GetMessage): QuarantinedMessage {
  const { messageId, type, headers } = message.properties
  return { origin: originOf(message), messageId, type, headers: headers ?? {}, content: message.content }
}

export function releasedMessage(message: Message, origin: Origin): OutgoingMessage {
  return {
    exchange: origin.exchange,
    routingKey: origin.routingKey,
    content: message.content,
    properties: { ...propertiesOf(message), headers: originalHeaders(message) },
  }
}

/** undefined: neither this service nor the broker moved it to quarantine, so its origin is unknown. */
export function originOf({ properties }: Pick<Message, 'properties'>): Origin | undefined {
  const headers: Readonly<Record<string, unknown>> = properties.headers ?? {}
  return recordedOrigin(headers) ?? deadLetterOrigin(headers)
}

function recordedOrigin(headers: Readonly<Record<string, unknown>>): Origin | undefined {
  const { reason, at, queue, exchange, routingKey } = Object.fromEntries(
    Object.entries(ORIGIN).map(([member, name]) => [member, headers[name]]),
  )
  if (!isText(reason) || !isText(at) || !isText(queue) || !isText(exchange) || !isText(routingKey)) return undefined
  return { reason, at, queue, exchange, routingKey }
}

/** A dead letter: the broker moved it here, mostly after `x-delivery-limit` returns. The newest death comes first. */
function deadLetterOrigin(headers: Readonly<Record<string, unknown>>): Origin | undefined {
  const deaths = headers['x-death']
  const death: unknown = Array.isArray(deaths) ? deaths[0] : undefined
  if (!isRecord(death)) return undefined
  const { reason, queue, exchange, time, 'routing-keys': keys } = death
  const routingKey: unknown = Array.isArray(keys) ? keys[0] : undefined
  if (!isText(reason) || !isText(queue) || !isText(exchange) || !isText(routingKey)) return undefined
  const seconds = isRecord(time) && typeof time['value'] === 'number' ? time['value'] : 0
  return { reason, queue, exchange, routingKey, at: new Date(seconds * 1_000).toISOString() }
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
