import { Queue } from 'bullmq'
import { envelope, WEBHOOK_HEADERS } from '../load/events.ts'

export function openBullmq(redisUrl: string, name: string): Queue {
  const { hostname, port, username, password } = new URL(redisUrl)
  return new Queue(name, { connection: { host: hostname, port: Number(port), username, password } })
}

/** A POST as a job, for `bullmq-worker.ts`. */
export const jobOf = (url: string, data: object) => ({
  name: 'deliver',
  data: { url, body: envelope(data), headers: WEBHOOK_HEADERS },
})
