import { Queue } from 'bullmq'
import { pidsOf } from '../figures/stack-pids.ts'
import { callData, envelope, WEBHOOK_HEADERS } from '../load/events.ts'
import { startChild } from '../processes/child.ts'
import type { Baseline, BaselineOptions } from './baseline.ts'

const QUEUE = 'bench-deliveries'
const JOBS_AT_ONCE = 1_000

export function openBullmq(redisUrl: string, name: string): Queue {
  const { hostname, port, username, password } = new URL(redisUrl)
  return new Queue(name, { connection: { host: hostname, port: Number(port), username, password } })
}

/** A POST as a job, for `bullmq-worker.ts`. */
export const jobOf = (url: string, data: object) => ({
  name: 'deliver',
  data: { url, body: envelope(data), headers: WEBHOOK_HEADERS },
})

/** Adds `count` jobs, a thousand per round trip. */
export async function addJobs(
  queue: Queue,
  count: number,
  job: (n: number) => ReturnType<typeof jobOf>,
): Promise<void> {
  for (let from = 0; from < count; from += JOBS_AT_ONCE) {
    const size = Math.min(JOBS_AT_ONCE, count - from)
    await queue.addBulk(Array.from({ length: size }, (_, n) => job(from + n)))
  }
}

/** BullMQ with axios as a team would first write it: one process, a job per delivery, no fan-out, no record, no signature. */
export async function openBullmqSide({ stack, url, concurrency }: BaselineOptions): Promise<Baseline> {
  const queue = openBullmq(stack.urls.redis, QUEUE)
  const worker = await startChild('bullmq-worker.js', [stack.urls.redis, QUEUE, String(concurrency)])
  return {
    processes: { worker: [worker.pid], ...pidsOf(stack, 'redis') },
    publish: (deliveries) => addJobs(queue, deliveries, (n) => jobOf(url, callData(n))),
    close: async () => {
      await worker.stop()
      await queue.obliterate({ force: true })
      await queue.close()
    },
  }
}
