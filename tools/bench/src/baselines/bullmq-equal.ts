import { pidsOf } from '../figures/stack-pids.ts'
import { callData, envelope, WEBHOOK_HEADERS } from '../load/events.ts'
import { startChild } from '../processes/child.ts'
import type { Baseline, BaselineOptions } from './baseline.ts'
import { addJobs, openBullmq } from './bullmq.ts'

const EVENTS = 'bench-equal-events'
const DELIVERIES = 'bench-equal-deliveries'
const WORKERS = 2

/**
 * BullMQ that does the work of Switchhook: an event is a job that adds its deliveries with `addBulk`; a delivery has eight
 * attempts, is signed, POSTed by axios over undici, logged in one line, and its result is kept for an hour. Two processes.
 */
export async function openEqualBullmqSide(options: BaselineOptions): Promise<Baseline> {
  const { stack, url, perEvent, concurrency } = options
  const [events, deliveries] = [EVENTS, DELIVERIES].map((name) => openBullmq(stack.urls.redis, name))
  if (events === undefined || deliveries === undefined) throw new Error('unreachable')
  const args = [stack.urls.redis, EVENTS, DELIVERIES, String(perEvent), String(concurrency / WORKERS)]
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => startChild('bullmq-equal.js', args)))
  return {
    processes: { workers: workers.map(({ pid }) => pid), ...pidsOf(stack, 'redis') },
    publish: (count) =>
      addJobs(events, count / perEvent, (n) => ({
        name: 'event',
        data: { url, body: envelope(callData(n)), headers: WEBHOOK_HEADERS },
      })),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()))
      for (const queue of [events, deliveries]) {
        await queue.obliterate({ force: true })
        await queue.close()
      }
    },
  }
}
