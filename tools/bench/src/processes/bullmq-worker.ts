import axios from 'axios'
import { Worker } from 'bullmq'

/** A BullMQ worker: each job is a POST by axios, done when the POST was answered. */
const [redisUrl = '', queue = '', concurrency = '1', timeoutMs = '10000'] = process.argv.slice(2)
const worker = new Worker<{ url: string; body: string; headers: Record<string, string> }>(
  queue,
  async ({ data }) => {
    await axios.post(data.url, Buffer.from(data.body), {
      headers: data.headers,
      maxRedirects: 0,
      proxy: false,
      timeout: Number(timeoutMs),
    })
  },
  {
    connection: { url: redisUrl, maxRetriesPerRequest: null },
    concurrency: Number(concurrency),
    removeOnComplete: { count: 0 },
  },
)
await worker.waitUntilReady()
process.on('disconnect', () => process.exit())
process.send?.({ ready: 1 })
