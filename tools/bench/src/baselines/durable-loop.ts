import { pidsOf } from '../figures/stack-pids.ts'
import { callData, envelope } from '../load/events.ts'
import { startChild } from '../processes/child.ts'
import type { Baseline, BaselineOptions } from './baseline.ts'

const EVENTS = 'bench.durable.events'
const DELIVERIES = 'bench.durable.deliveries'
const WORKERS = 2

/**
 * The limit of Switchhook's design: the same hops and the same writes, and nothing else. An event is confirmed into a
 * quorum queue; a process confirms its deliveries into a second one and acknowledges; two processes POST with undici, write
 * one record to Redis (fsynced) and acknowledge.
 */
export async function openDurableSide(options: BaselineOptions): Promise<Baseline> {
  const { stack, channel, url, perEvent, concurrency, execArgv } = options
  const quorum = { durable: true, arguments: { 'x-queue-type': 'quorum' } }
  for (const queue of [EVENTS, DELIVERIES]) await channel.assertQueue(queue, quorum)
  const fanout = await startChild(
    'durable-fanout.js',
    [stack.urls.amqp, EVENTS, DELIVERIES, String(perEvent)],
    execArgv,
  )
  const args = [stack.urls.amqp, stack.urls.redis, DELIVERIES, new URL(url).origin, String(concurrency / WORKERS)]
  const workers = await Promise.all(
    Array.from({ length: WORKERS }, () => startChild('durable-loop.js', args, execArgv)),
  )
  return {
    processes: {
      workers: workers.map(({ pid }) => pid),
      fanout: [fanout.pid],
      ...pidsOf(stack, 'rabbitmq', 'redis'),
    },
    publish: async (deliveries) => {
      for (let n = 0; n < deliveries / perEvent; n++) {
        channel.sendToQueue(EVENTS, Buffer.from(envelope(callData(n))), { persistent: true })
      }
      await channel.waitForConfirms()
    },
    close: async () => {
      await Promise.all([fanout, ...workers].map((child) => child.stop()))
      for (const queue of [EVENTS, DELIVERIES]) await channel.deleteQueue(queue)
    },
  }
}
