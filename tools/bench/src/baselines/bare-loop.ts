import type { StackFile } from '@switchhook/local'
import type { ConfirmChannel } from 'amqplib'
import { pidsOf } from '../figures/stack-pids.ts'
import { callData, envelope } from '../load/events.ts'
import { startChild } from '../processes/child.ts'
import type { Baseline, BaselineOptions } from './baseline.ts'

const QUEUE = 'bench.deliveries'

/** The bare loop: deliveries are stored in a quorum queue; one process consumes, POSTs with undici and acknowledges. */
export interface BareLoop {
  readonly pid: number
  readonly send: (data: object) => void
  close(): Promise<void>
}

export async function openBareLoop(
  stack: StackFile,
  channel: ConfirmChannel,
  origin: string,
  concurrency: number,
): Promise<BareLoop> {
  await channel.assertQueue(QUEUE, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
  const loop = await startChild('bare-loop.js', [stack.urls.amqp, QUEUE, origin, String(concurrency)])
  return {
    pid: loop.pid,
    send: (data) => void channel.sendToQueue(QUEUE, Buffer.from(envelope(data)), { persistent: true }),
    close: async () => {
      await loop.stop()
      await channel.deleteQueue(QUEUE)
    },
  }
}

/** The bare loop as a baseline: no fan-out, no schedule, no ledger, no record. */
export async function openBareSide({ stack, channel, url, concurrency }: BaselineOptions): Promise<Baseline> {
  const loop = await openBareLoop(stack, channel, new URL(url).origin, concurrency)
  return {
    processes: { loop: [loop.pid], ...pidsOf(stack, 'rabbitmq') },
    publish: async (deliveries) => {
      for (let n = 0; n < deliveries; n++) loop.send(callData(n))
      await channel.waitForConfirms()
    },
    close: () => loop.close(),
  }
}
