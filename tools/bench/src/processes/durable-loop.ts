import { randomUUID } from 'node:crypto'
import { type ConsumeMessage, connect } from 'amqplib'
import { Redis } from 'ioredis'
import { Pool } from 'undici'

/**
 * Consumes messages of one or more deliveries, POSTs each, writes a record of each to Redis (none without a `redisUrl`), then
 * acknowledges.
 */
const [amqpUrl = '', queue = '', origin = '', concurrency = '1', packed = '1', redisUrl = ''] = process.argv.slice(2)
const RECORD_SECONDS = 3_600
const model = await connect(amqpUrl)
const channel = await model.createChannel()
const redis = redisUrl === '' ? undefined : new Redis(redisUrl, { enableAutoPipelining: packed !== '1' })
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 })
const headers = { 'content-type': 'application/json; charset=utf-8' }

async function deliver(delivery: string | Buffer): Promise<void> {
  const startedAt = Date.now()
  const { statusCode, body } = await pool.request({ method: 'POST', path: '/hook', headers, body: delivery })
  await body.dump()
  const record = JSON.stringify({ at: startedAt, durationMs: Date.now() - startedAt, status: statusCode })
  await redis?.set(`bench:delivery:${randomUUID()}`, record, 'EX', RECORD_SECONDS)
}

async function handle(message: ConsumeMessage): Promise<void> {
  // A body is JSON without line breaks.
  const deliveries = packed === '1' ? [message.content] : message.content.toString().split('\n')
  await Promise.all(deliveries.map(deliver))
  channel.ack(message)
}

await channel.prefetch(Math.max(1, Math.floor(Number(concurrency) / Number(packed))))
await channel.consume(queue, (message) => {
  if (message !== null) handle(message).catch(() => channel.nack(message))
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
