import { connect } from 'amqplib'
import { Pool } from 'undici'

/** Consumes, POSTs and acknowledges. No schedule, no ledger, no record, no address guard. */
const [amqpUrl = '', queue = '', origin = '', concurrency = '1'] = process.argv.slice(2)
const model = await connect(amqpUrl)
const channel = await model.createChannel()
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 })
await channel.prefetch(Number(concurrency))
await channel.consume(queue, (message) => {
  if (message === null) return
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  pool
    .request({ method: 'POST', path: '/hook', headers, body: message.content })
    .then(async ({ body }) => {
      await body.dump()
      channel.ack(message)
      return undefined
    })
    .catch(() => channel.nack(message))
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
