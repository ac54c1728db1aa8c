import type { AddressInfo } from 'node:net'
import { connect } from 'amqplib'
import express from 'express'
import { Redis } from 'ioredis'

/**
 * The minimum of a command: the same web framework, the same JSON body, one write to the same Redis; with a queue also one read
 * before it and one confirmed message after it, whose body is the request's.
 */
const [redisUrl = '', amqpUrl = '', queue = ''] = process.argv.slice(2)
const redis = new Redis(redisUrl)
const channel = queue === '' ? undefined : await (await connect(amqpUrl)).createConfirmChannel()
const app = express()
app.use(express.json())
app.post('/command', (request, response) => {
  const { agentUri } = request.body as { agentUri: string }
  perform(agentUri, JSON.stringify(request.body))
    .then(() => response.status(202).json({ agentUri, noop: false }))
    .catch((error: unknown) => response.destroy(error as Error))
})
const server = app.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit())

async function perform(agentUri: string, body: string): Promise<void> {
  if (channel !== undefined) await redis.get(`bench:${agentUri}`)
  await redis.set(`bench:${agentUri}`, body)
  channel?.sendToQueue(queue, Buffer.from(body), { persistent: true })
}
