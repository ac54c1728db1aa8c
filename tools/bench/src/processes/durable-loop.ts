import { randomUUID } from 'node:crypto'
import { type ConsumeMessage, connect } from 'amqplib'
import { Redis } from 'ioredis'
import { Pool } from 'undici'

/** Consumes deliveries, POSTs each, writes one record to Redis, then acknowledges. */
const [amqpUrl = '', redisUrl = '', queue = '', origin = '', concurrency = '1'] = process.argv.slice(2)
const RECORD_SECONDS = 3_600
const model = await connect(amqpUrl)
const channel = await model.createChannel()
const redis = new Redis(redisUrl)
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 })
const headers = { 'content-type': 'application/json; charset=utf-8' }

async function deliver(message: ConsumeMessage): Promise<void> {
  const startedAt = Date.now()
  const { statusCode, body } = await pool.request({ method: 'POST', path: '/hook', headers, body: message.content })
  await body.dump()
  const record = JSON.stringify({ at: startedAt, durationMs: Date.now() - startedAt, status: statusCode })
  await redis.set(`bench:delivery:${randomUUID()}`, record, 'EX', RECORD_SECONDS)
  channel.ack(message)
}

await channel.prefetch(Number(concurrency))
await channel.consume(queue, (message) => {
  if (message !== null) deliver(message).catch(() => channel.nack(message))
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
