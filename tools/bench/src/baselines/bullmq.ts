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

export async function discard(queue: Queue): Promise<void> {
  await queue.obliterate({ force: true })
  await queue.close()
}

/** A POST as a job, for `bullmq-worker.ts`. */
export const jobOf = (url: string, data: object) => ({
  name: 'deliver',
  data: { url, body: envelope(data), headers: WEBHOOK_HEADERS },
})

/** Adds `count` jobs, a thousand per round trip. */
async function addJobs(queue: Queue, count: number, job: (n: number) => ReturnType<typeof jobOf>): Promise<void> {
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
      await discard(queue)
    },
  }
}

const EQUAL_EVENTS = 'bench-equal-events'
const EQUAL_DELIVERIES = 'bench-equal-deliveries'
const EQUAL_WORKERS = 2

/**
 * BullMQ that does the work of Switchhook: an event is a job that adds its deliveries with `addBulk`; a delivery has eight
 * attempts, is signed, POSTed by axios over undici, logged in one line, and its result is kept for an hour. Two processes.
 */
export async function openEqualBullmqSide(options: BaselineOptions): Promise<Baseline> {
  const { stack, url, perEvent, concurrency } = options
  const events = openBullmq(stack.urls.redis, EQUAL_EVENTS)
  const deliveries = openBullmq(stack.urls.redis, EQUAL_DELIVERIES)
  const args = [stack.urls.redis, EQUAL_EVENTS, EQUAL_DELIVERIES, String(perEvent), String(concurrency / EQUAL_WORKERS)]
  const workers = await Promise.all(Array.from({ length: EQUAL_WORKERS }, () => startChild('bullmq-equal.js', args)))
  return {
    processes: { workers: workers.map(({ pid }) => pid), ...pidsOf(stack, 'redis') },
    publish: (count) =>
      addJobs(events, count / perEvent, (n) => ({
        name: 'event',
        data: { url, body: envelope(callData(n)), headers: WEBHOOK_HEADERS },
      })),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      for (const queue of [events, deliveries]) await discard(queue)
    },
  }
}
