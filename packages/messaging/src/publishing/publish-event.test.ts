import { type PlatformEvent, Unavailable } from '@switchhook/contracts'
import type { OutgoingMessage } from '../message/message.ts'
import { openEventPacket } from '../packets/packet.ts'
import { sampleEvent } from '../testing/samples.ts'
import { eventShardOf } from '../topology/topology.ts'
import { createPublishEvent } from './publish-event.ts'

const events = (count: number): PlatformEvent[] => Array.from({ length: count }, () => sampleEvent())

function publishing() {
  const sent: OutgoingMessage[] = []
  const copies: OutgoingMessage[] = []
  const publish = createPublishEvent({
    publish: async (message) => void sent.push(message),
    publishCopy: async (message) => void copies.push(message),
    shards: 1,
    copyFailed: () => {},
  })
  /** Publishes events and returns how many travelled under each routing key, message by message. */
  const send = async (some: readonly PlatformEvent[]) => {
    sent.length = 0
    await Promise.all(some.map(publish))
    return sent.map(({ routingKey, content, properties: { headers = {}, messageId, type } }) =>
      type === 'event.packet'
        ? [routingKey, openEventPacket({ content, headers, messageId, type } as never).members.length]
        : [routingKey, 1],
    )
  }
  return { copies, send }
}

describe('events of one moment', () => {
  test('travel together, each with a copy of its own for other systems', async () => {
    const { send, copies } = publishing()
    expect(await send(events(3))).toEqual([['fanout.events.packets', 3]])
    expect(await send(events(1))).toEqual([['call.status', 1]])
    expect(copies.map(({ exchange }) => exchange)).toEqual(Array(4).fill('switchhook.events'))
  })

  test('travel in packets of bounded size', async () => {
    const { send } = publishing()
    expect(await send(events(65))).toEqual([
      ['fanout.events.packets', 32],
      ['fanout.events.packets', 32],
      ['call.status', 1],
    ])
    const large = events(5).map((event) => ({ ...event, data: { text: 'x'.repeat(60_000) } }))
    expect(await send(large)).toEqual([
      ['fanout.events.packets', 3],
      ['fanout.events.packets', 2],
    ])
  })

  test('travel in one packet for each shard, in which their trace contexts and revisions stay', async () => {
    const sent: OutgoingMessage[] = []
    const publish = createPublishEvent({
      publish: async (message) => void sent.push(message),
      publishCopy: async () => {},
      shards: 2,
      copyFailed: () => {},
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const many = events(40).map((event) => ({ ...event, traceparent, revision: 'r1' }))
    await Promise.all(many.map(publish))
    expect(sent.map(({ routingKey }) => routingKey).toSorted()).toEqual([
      'fanout.events.packets',
      'fanout.events.packets.1',
    ])
    const members = sent.flatMap(
      ({ content }) => openEventPacket({ content, headers: {}, messageId: undefined } as never).members,
    )
    expect(members).toHaveLength(40)
    expect(members.every((member) => member.traceparent === traceparent && member.revision === 'r1')).toBe(true)
  })

  test('of a shard that confirms nothing do not delay those of another shard', async () => {
    const publish = createPublishEvent({
      publish: ({ routingKey }) => (routingKey.endsWith('.1') ? new Promise(() => {}) : Promise.resolve()),
      publishCopy: async () => {},
      shards: 2,
      copyFailed: () => {},
    })
    const many = events(40)
    const confirmed = new Set<PlatformEvent>()
    for (const event of many) void publish(event).then(() => confirmed.add(event))
    await new Promise(setImmediate)
    expect(confirmed).toEqual(new Set(many.filter((event) => eventShardOf(event, 2) === 0)))
  })

  test('are rejected together if their message is refused', async () => {
    const publish = createPublishEvent({
      publish: () => Promise.reject(new Unavailable('rabbitmq', 'refused')),
      publishCopy: async () => {},
      shards: 1,
      copyFailed: () => {},
    })
    const results = await Promise.allSettled(events(3).map(publish))
    expect(results.map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
  })
})
