import { type PlatformEvent, Unavailable } from '@switchhook/contracts'
import type { OutgoingMessage } from '../message/outgoing-message.ts'
import { openEventPack } from '../packets/event-pack.ts'
import { sampleEvent } from '../testing/samples.ts'
import type { QueueDepth } from '../topology/queue-depths.ts'
import { eventShardOf } from '../topology/topology.ts'
import { createPublishEvent } from './publish-event.ts'

const events = (count: number): PlatformEvent[] => Array.from({ length: count }, () => sampleEvent())

function publishing(answer: () => Promise<readonly QueueDepth[]>) {
  const sent: OutgoingMessage[] = []
  const copies: OutgoingMessage[] = []
  const publish = createPublishEvent({
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
    await Promise.all(some.map(publish))
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
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }))
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
    const large = events(5).map((event) => ({ ...event, data: { text: 'x'.repeat(60_000) } }))
    expect(await send(large)).toEqual([
      ['fanout.events.packs', 3],
      ['fanout.events.packs', 2],
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

  test('travel in one pack for each shard, in which their trace contexts and revisions stay', async () => {
    const sent: OutgoingMessage[] = []
    const publish = createPublishEvent({
      publisher: { publish: async (message) => void sent.push(message), publishCopy: async () => {} },
      shards: 2,
      installation: () => undefined,
      lookAt: async () => [CONSUMED, CONSUMED],
    })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const many = events(40).map((event) => ({ ...event, traceparent, revision: 'r1' }))
    await Promise.all(many.map(publish))
    await looked()
    sent.length = 0
    await Promise.all(many.map(publish))
    expect(sent.map(({ routingKey }) => routingKey).toSorted()).toEqual([
      'fanout.events.packs',
      'fanout.events.packs.1',
    ])
    const members = sent.flatMap(
      ({ content }) => openEventPack({ content, headers: {}, messageId: undefined } as never).members,
    )
    expect(members).toHaveLength(40)
    expect(members.every((member) => member.traceparent === traceparent && member.revision === 'r1')).toBe(true)
  })

  test('of a shard that confirms nothing do not delay those of another shard', async () => {
    const publish = createPublishEvent({
      publisher: {
        publish: ({ routingKey }) => (routingKey.endsWith('.1') ? new Promise(() => {}) : Promise.resolve()),
        publishCopy: async () => {},
      },
      shards: 2,
      installation: () => undefined,
      lookAt: async () => [CONSUMED, CONSUMED],
    })
    await publish(sampleEvent())
    await looked()
    const many = events(40)
    const confirmed = new Set<PlatformEvent>()
    for (const event of many) void publish(event).then(() => confirmed.add(event))
    await new Promise(setImmediate)
    expect(confirmed).toEqual(new Set(many.filter((event) => eventShardOf(event, 2) === 0)))
  })

  test('travel alone after a pack was refused, until fan-out is looked at again', async () => {
    const refused: string[] = []
    const publish = createPublishEvent({
      publisher: {
        publish: async ({ routingKey }) => {
          if (routingKey !== 'fanout.events.packs') return
          refused.push(routingKey)
          throw new Unavailable('rabbitmq', 'refused')
        },
        publishCopy: async () => {},
      },
      shards: 1,
      installation: () => undefined,
      lookAt: consumed,
    })
    const send = async () => (await Promise.allSettled(events(3).map(publish))).map(({ status }) => status)
    await send()
    await looked()
    expect([await send(), await send()]).toEqual([Array(3).fill('rejected'), Array(3).fill('fulfilled')])
    jest.advanceTimersByTime(1_000)
    await send()
    await looked()
    await send()
    expect(refused).toHaveLength(2)
  })
})
