import type { ConfirmChannel } from 'amqplib'
import { type Delivery, Refused } from './move-deliveries.ts'

/**
 * Stores deliveries in an exchange. The event type is the routing key. Resolves once the broker has confirmed the message, and
 * rejects with `Refused` if no queue takes it.
 */
export function toRabbitMq(channel: ConfirmChannel, exchange: string): (delivery: Delivery) => Promise<void> {
  const returned = new Set<string>()
  // The publishes that it ends are rejected.
  channel.on('error', () => {})
  channel.on('return', ({ properties }) => returned.add(properties.messageId as string))
  return ({ deliveryId, headers, body }) =>
    new Promise((resolve, reject) => {
      const routingKey = headers['X-SVC-Event'] ?? ''
      const properties = { messageId: deliveryId, headers, contentType: 'application/json', persistent: true }
      channel.publish(exchange, routingKey, Buffer.from(body), { ...properties, mandatory: true }, (error) => {
        // RabbitMQ returns a message before it confirms it.
        if (returned.delete(deliveryId)) reject(new Refused(`no queue takes ${routingKey} from exchange ${exchange}`))
        else if (error) reject(error as Error)
        else resolve()
      })
    })
}
