import { type ConsumeMessage, connect } from 'amqplib'

/** Consumes events, publishes the deliveries of each with confirms, then acknowledges. */
const [amqpUrl = '', events = '', deliveries = '', perEvent = '1'] = process.argv.slice(2)
const PREFETCH = 100
const model = await connect(amqpUrl)
const publishing = await model.createConfirmChannel()
const consuming = await model.createChannel()

const publish = (message: ConsumeMessage): Promise<void> =>
  new Promise((resolve, reject) => {
    publishing.sendToQueue(deliveries, message.content, { persistent: true }, (error: unknown) =>
      error == null ? resolve() : reject(error),
    )
  })

await consuming.prefetch(PREFETCH)
await consuming.consume(events, (message) => {
  if (message === null) return
  Promise.all(Array.from({ length: Number(perEvent) }, () => publish(message)))
    .then(() => consuming.ack(message))
    .catch(() => consuming.nack(message))
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
