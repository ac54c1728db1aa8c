import { type PlatformEvent, parseEvent } from '@switchhook/contracts'
import {
  type Broker,
  eventPacketQueues,
  eventQueues,
  type IncomingMessage,
  openEventPacket,
} from '@switchhook/messaging'

/** Takes the events that apis publish, alone or in packets, as fan-out does. */
export async function takeEvents(
  broker: Pick<Broker, 'consume'>,
  take: (event: PlatformEvent, headers: IncomingMessage['headers']) => void,
  shards = 1,
): Promise<void> {
  const consume = (queue: string, contentsOf: (message: IncomingMessage) => readonly Buffer[]): Promise<unknown> =>
    broker.consume({
      queue,
      parse: (message) => ({ contents: contentsOf(message), headers: message.headers }),
      handle: async ({ contents, headers }) => {
        for (const content of contents) take(parseEvent(content), headers)
      },
      concurrency: 100,
      recovered: () => Promise.resolve(),
    })
  await Promise.all([
    ...eventQueues(shards).map((queue) => consume(queue, ({ content }) => [content])),
    ...eventPacketQueues(shards).map((queue) =>
      consume(queue, (message) => openEventPacket(message).members.map(({ content }) => content)),
    ),
  ])
}
