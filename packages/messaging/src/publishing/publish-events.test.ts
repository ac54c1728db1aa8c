import { type PlatformEvent, Unavailable } from '@switchhook/contracts'
import type { QueueDepth } from '../consuming/queue-depths.ts'
import { openEventPack } from '../packets/event-pack.ts'
import { sampleEvent } from '../testing/samples.ts'
import { createPublishEvents } from './publish-events.ts'
import type { OutgoingMessage } from './publisher.ts'

const events = (count: number): PlatformEvent[] => Array.from({ length: count }, () => sampleEvent())

function publishing(answer: () => Promise<readonly QueueDepth[]>) {
  const sent: OutgoingMessage[] = []
  const copies: OutgoingMessage[] = []
  const publish = createPublishEvents({
    publisher: {
      publish: async (message) => void sent.push(message),
      publishCopy: async (message) => void copies.push(message),
    },
    shards: 1,
    installation: () => undefined,
    lookAt: answer,
  })
  /** Publishes events and returns how many travelled under each routing key, message by message. */
  const send = async (some: readonly PlatformEvent[]) => {
    sent.length = 0
    await publish(some)
    await looked()
    return sent.map(({ routingKey, content, properties: { headers = {}, messageId, type } }) =>
      type === 'event.pack'
        ? [routingKey, openEventPack({ content, headers, messageId, type } as never).members.length]
        : [routingKey, 1],
    )
  }
  return { copies, send }
}

const CONSUMED = { ready: 0, consumers: 1 }
const consumed = async () => [CONSUMED]
const notConsumed = async () => [{ ready: 0, consumers: 0 }]

/** A look ends some microtasks after the publish that began it. */
const looked = async (): Promise<void> => {
  for (let n = 0; n < 10; n++) await Promise.resolve()
}

describe('events of one moment', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => jest.useRealTimers())

  test('travel together once fan-out is seen to consume packs, each with a copy of its own for other systems', async () => {
    const { send, copies } = publishing(consumed)
    expect(await send(events(2))).toEqual([
      ['call.status', 1],
      ['call.status', 1],
    ])
    expect(await send(events(3))).toEqual([['fanout.events.packs', 3]])
    expect(await send(events(1))).toEqual([['call.status', 1]])
    expect(copies.map(({ exchange }) => exchange)).toEqual(Array(6).fill('switchhook.events'))
  })

  test('travel alone while fan-out is behind, so that packs do not reach their time limit', async () => {
    const { send } = publishing(async () => [{ ready: 200, consumers: 1 }])
    await send(events(2))
    expect(await send(events(2))).toEqual([
      ['call.status', 1],
      ['call.status', 1],
    ])
  })

  test('travel in packs of bounded size', async () => {
    const { send } = publishing(consumed)
    await send(events(2))
    expect(await send(events(65))).toEqual([
      ['fanout.events.packs', 32],
      ['fanout.events.packs', 32],
      ['call.status', 1],
    ])
    const large = events(3).map((event) => ({ ...event, data: { text: 'x'.repeat(60_000) } }))
    expect(await send(large)).toEqual([
      ['fanout.events.packs', 2],
      ['call.status', 1],
    ])
  })

  test('travel alone within a second after the last fan-out that consumes packs has gone', async () => {
    let answer = consumed
    const { send } = publishing(() => answer())
    await send(events(2))
    answer = notConsumed
    jest.advanceTimersByTime(1_000)
    await send(events(2))
    expect(await send(events(2))).toHaveLength(2)
  })

  test('travel alone a few seconds after RabbitMQ could last be asked', async () => {
    let answer: () => Promise<readonly QueueDepth[]> = consumed
    const { send } = publishing(() => answer())
    await send(events(2))
    answer = () => Promise.reject(new Unavailable('rabbitmq', 'away'))
    jest.advanceTimersByTime(2_000)
    expect(await send(events(2))).toHaveLength(1)
    jest.advanceTimersByTime(2_000)
    expect(await send(events(2))).toHaveLength(2)
  })

  test('travel in one pack for each shard, in which their trace contexts stay', async () => {
    const sent: OutgoingMessage[] = []
    const publish = createPublishEvents({
      publisher: { publish: async (message) => void sent.push(message), publishCopy: async () => {} },
      shards: 2,
      installation: () => undefined,
      lookAt: async () => [CONSUMED, CONSUMED],
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const many = events(40).map((event) => ({ ...event, traceparent }))
    await publish(many)
    await looked()
    sent.length = 0
    await publish(many)
    expect(sent.map(({ routingKey }) => routingKey).toSorted()).toEqual([
      'fanout.events.packs',
      'fanout.events.packs.1',
    ])
    const members = sent.flatMap(
      ({ content }) => openEventPack({ content, headers: {}, messageId: undefined } as never).members,
    )
    expect(members).toHaveLength(40)
    expect(members.every((member) => member.traceparent === traceparent)).toBe(true)
  })
})
