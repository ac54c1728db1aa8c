import { Queue } from 'bullmq'
import type { Bench } from '../bench.ts'
import { callData, envelope, WEBHOOK_HEADERS } from '../load/events.ts'
import { pidsOf } from '../measure/processor-cost.ts'
import { startChild } from '../processes/child.ts'
import { type Baseline, type BaselineOptions, CONCURRENCY } from './baseline.ts'

const QUEUE = 'bench-deliveries'
const JOBS_AT_ONCE = 1_000

/** Opens a queue that is discarded after the part. */
export function openBullmq({ stack, defer }: Pick<Bench, 'stack' | 'defer'>, name: string): Queue {
  const queue = new Queue(name, { connection: { url: stack.urls.redis } })
  defer(async () => {
    await queue.obliterate({ force: true })
    await queue.close()
  })
  return queue
}

/** A POST as a job, for `bullmq-worker.ts`; for `bullmq-equal.ts`, an event that becomes such POSTs. */
export const jobOf = (url: string, data: object, name = 'deliver') => ({
  name,
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
export async function openBullmqSide(options: BaselineOptions): Promise<Baseline> {
  const { stack, url } = options
  const queue = openBullmq(options, QUEUE)
  const worker = await startChild(options, 'bullmq-worker.js', [stack.urls.redis, QUEUE, CONCURRENCY])
  return {
    processes: { worker: [worker.pid], ...pidsOf(stack, 'redis') },
    publish: (deliveries) => addJobs(queue, deliveries, (n) => jobOf(url, callData(n))),
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
  const { stack, url, perEvent } = options
  const events = openBullmq(options, EQUAL_EVENTS)
  openBullmq(options, EQUAL_DELIVERIES)
  const args = [stack.urls.redis, EQUAL_EVENTS, EQUAL_DELIVERIES, perEvent, CONCURRENCY / EQUAL_WORKERS]
  const start = () => startChild(options, 'bullmq-equal.js', args)
  const workers = await Promise.all(Array.from({ length: EQUAL_WORKERS }, start))
  return {
    processes: { workers: workers.map(({ pid }) => pid), ...pidsOf(stack, 'redis') },
    publish: (count) => addJobs(events, count / perEvent, (n) => jobOf(url, callData(n), 'event')),
  }
}
