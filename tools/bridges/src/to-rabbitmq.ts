import type { ConfirmChannel } from 'amqplib'
import type { Delivery } from './move-deliveries.ts'

/**
 * Stores deliveries in an exchange. The event type is the routing key. Resolves once the broker has confirmed the message;
 * a message that no queue takes is confirmed, too, so bind the queues first.
 */
export const toRabbitMq =
  (channel: ConfirmChannel, exchange: string) =>
  ({ deliveryId, headers, body }: Delivery): Promise<void> =>
    new Promise((resolve, reject) => {
      const properties = { messageId: deliveryId, headers, contentType: 'application/json', persistent: true }
      channel.publish(exchange, headers['X-SVC-Event'] ?? '', Buffer.from(body), properties, (error) =>
        error ? reject(error as Error) : resolve(),
      )
    })
