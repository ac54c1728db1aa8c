import { testBroker } from '@switchhook/testkit'
import { connect } from 'amqplib'

/** Of a queue whose messages RabbitMQ passes on by a process of its own. */
const SETTINGS = {
  durable: true,
  arguments: {
    'x-queue-type': 'quorum',
    'x-dead-letter-exchange': '',
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  },
}

test('a queue takes messages after virtual hosts were deleted while their queues were declared', async () => {
  for (let round = 0; round < 12; round++) {
    const deleted = await testBroker()
    const connection = await connect(deleted.amqpUrl)
    connection.on('error', () => {})
    const channel = await connection.createChannel()
    channel.on('error', () => {})
    const names = Array.from({ length: 40 }, (_, n) => `q${n}`)
    const declared = names.map((name) => channel.assertQueue(name, SETTINGS).catch(() => {}))
    await declared[round * 3]
    await Promise.all([deleted.close(), ...declared])
  }
  const broker = await testBroker()
  const connection = await connect(broker.amqpUrl)
  const channel = await connection.createConfirmChannel()
  await channel.assertQueue('later', SETTINGS)
  channel.sendToQueue('later', Buffer.from('x'), { persistent: true })
  await channel.waitForConfirms()
  await connection.close()
  await broker.close()
})
