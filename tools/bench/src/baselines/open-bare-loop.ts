import { type StackFile } from '@switchhook/local'
import type { ConfirmChannel } from 'amqplib'
import { envelope } from '../load/events.ts'
import { startChild } from '../processes/child.ts'

const QUEUE = 'bench.deliveries'

/** The bare loop: what is sent is stored in a quorum queue, consumed by a process that POSTs it, and acknowledged. */
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
