import { createHmac, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import axios, { type AxiosAdapter } from 'axios'
import { Queue, Worker } from 'bullmq'
import { Agent, request } from 'undici'
import winston from 'winston'

/** One of the two processes of `bullmq-equal`: fans events out, and delivers. */
interface Post {
  readonly url: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

const [redisUrl = '', events = '', deliveries = '', perEvent = '1', concurrency = '1'] = process.argv.slice(2)
const TIMEOUT_MS = 10_000
/** The waits of Switchhook's schedule. */
const WAITS_MS = [10, 60, 300, 900, 3_600, 7_200, 14_400].map((seconds) => seconds * 1_000)
const SECRET = Buffer.alloc(32, 1)
const KEPT = { age: 3_600, count: 50_000 }

const connection = { url: redisUrl, maxRetriesPerRequest: null }
const agent = new Agent({ connections: Number(concurrency), pipelining: 1 })
const log = winston.createLogger({
  format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
  transports: [new winston.transports.Stream({ stream: createWriteStream('/dev/null') })],
})

/** axios on undici's connections, as Switchhook has it. */
const undiciAdapter: AxiosAdapter = async (config) => {
  const { statusCode, headers, body } = await request(config.url ?? '', {
    method: 'POST',
    dispatcher: agent,
    headers: config.headers.toJSON() as Record<string, string>,
    body: config.data as Buffer,
    headersTimeout: TIMEOUT_MS,
  })
  const data = await body.text()
  return { status: statusCode, statusText: '', headers: headers as Record<string, string>, data, config, request: null }
}

function signed(id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

const queue = new Queue<Post>(deliveries, { connection })
const fanout = new Worker<Post>(
  events,
  async ({ data }) => {
    const jobs = Array.from({ length: Number(perEvent) }, () => ({
      name: 'deliver',
      data,
      opts: { attempts: 1 + WAITS_MS.length, backoff: { type: 'custom' }, removeOnComplete: KEPT, jobId: randomUUID() },
    }))
    await queue.addBulk(jobs)
  },
  { connection, concurrency: 20, removeOnComplete: { count: 0 } },
)
const worker = new Worker<Post>(
  deliveries,
  async ({ id = '', data, attemptsMade }) => {
    const startedAt = Date.now()
    const { status } = await axios.post(data.url, Buffer.from(data.body), {
      headers: { ...data.headers, ...signed(id, data.body) },
      adapter: undiciAdapter,
      maxRedirects: 0,
      proxy: false,
    })
    const attempt = { attempt: attemptsMade + 1, at: new Date(startedAt), durationMs: Date.now() - startedAt, status }
    log.info('delivery', { deliveryId: id, ...attempt })
    return attempt
  },
  {
    connection,
    concurrency: Number(concurrency),
    settings: { backoffStrategy: (made) => WAITS_MS[made - 1] ?? -1 },
  },
)
await Promise.all([fanout.waitUntilReady(), worker.waitUntilReady()])
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
