import { callData, envelope, messagesOf } from '../load/events.ts'
import { pidsOf } from '../measure/processor-cost.ts'
import { startChild } from '../processes/child.ts'
import { type BaselineOptions, CONCURRENCY } from './baseline.ts'

interface LoopOptions {
  /** Deliveries that share a message; messages of fewer occur when an event loop's turn has fewer. */
  readonly packed: number
  readonly workers: number
  /** Whether each delivery writes a record to Redis. */
  readonly records: boolean
}

/**
 * The limit of Switchhook's design: the same hops and the same writes, and nothing else. An event is confirmed into a
 * quorum queue; a process confirms its deliveries into a second one and acknowledges; the workers POST with undici, write
 * one record to Redis (fsynced) and acknowledge.
 */
export async function openDurableLoop(options: BaselineOptions, { packed, workers: count, records }: LoopOptions) {
  const { stack, defer, channel, url, perEvent, eventsPerMessage } = options
  const name = `bench.loop-${packed}${records ? '' : '-without-records'}`
  const [events, deliveries] = [`${name}.events`, `${name}.deliveries`] as const
  const quorum = { durable: true, arguments: { 'x-queue-type': 'quorum' } }
  for (const queue of [events, deliveries]) {
    await channel.assertQueue(queue, quorum)
    defer(() => channel.deleteQueue(queue))
  }
  const fanoutArgs = [stack.urls.amqp, events, deliveries, perEvent, packed]
  const fanout = await startChild(options, 'durable-fanout.js', fanoutArgs)
  const redis = records ? [stack.urls.redis] : []
  const args = [stack.urls.amqp, deliveries, new URL(url).origin, CONCURRENCY / count, packed, ...redis]
  const start = () => startChild(options, 'durable-loop.js', args)
  const workers = await Promise.all(Array.from({ length: count }, start))
  const write = (bodies: readonly string[]): void =>
    void channel.sendToQueue(events, Buffer.from(bodies.join('\n')), { persistent: true })
  return {
    /** Its queue of events. */
    queue: events,
    processes: {
      fanout: [fanout.pid],
      workers: workers.map(({ pid }) => pid),
      ...pidsOf(stack, 'rabbitmq', 'redis'),
    },
    /** Publishes one event without waiting for its confirm. */
    send: (data: object): void => write([envelope(data)]),
    publish: async (count: number): Promise<void> => {
      const perMessage = packed === 1 ? 1 : eventsPerMessage
      for (const numbers of messagesOf(count / perEvent, perMessage)) write(numbers.map((n) => envelope(callData(n))))
      await channel.waitForConfirms()
    },
  }
}
