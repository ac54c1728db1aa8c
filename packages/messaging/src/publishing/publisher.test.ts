import { EventEmitter } from 'node:events'
import type { ChannelModel } from 'amqplib'
import type { OutgoingMessage } from '../message/message.ts'
import { createPublishCopy } from './publish-event.ts'
import { createPublisher } from './publisher.ts'

const copy = (routingKey: string): OutgoingMessage => ({
  exchange: 'public',
  routingKey,
  content: Buffer.from('{}'),
  properties: { messageId: 'one' },
})

/** A channel of a broker that confirms everything. */
async function publisherUnderTest(bound: ReadonlySet<string>) {
  const sent: string[] = []
  const channel = Object.assign(new EventEmitter(), {
    publish(exchange: string, routingKey: string, _: Buffer, { messageId, mandatory }: never, confirm: () => void) {
      sent.push(routingKey)
      // RabbitMQ returns a message before it confirms it.
      if (mandatory && !bound.has(routingKey)) {
        channel.emit('return', { fields: { exchange, routingKey }, properties: { messageId } })
      }
      confirm()
    },
  })
  const model = Object.assign(new EventEmitter(), { createConfirmChannel: async () => channel })
  const session = { model: model as unknown as ChannelModel, fail: () => {} }
  const publisher = createPublisher({ changed: () => {} })
  await publisher.attach(session)
  return { publishCopy: createPublishCopy(publisher.publishCopy, () => {}), sent }
}

describe('copies for other systems', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => jest.useRealTimers())

  test('while no queue is bound to a type of event, one copy of it a second is sent', async () => {
    const bound = new Set<string>()
    const { publishCopy, sent } = await publisherUnderTest(bound)
    for (let n = 0; n < 25; n++) {
      await publishCopy(copy('call.status'))
      jest.advanceTimersByTime(100)
    }
    expect(sent).toHaveLength(3)
    bound.add('call.status')
    jest.advanceTimersByTime(500)
    for (let n = 0; n < 25; n++) await publishCopy(copy('call.status'))
    expect(sent).toHaveLength(28)
  })

  test('a queue that is bound to another type gets every copy', async () => {
    const { publishCopy, sent } = await publisherUnderTest(new Set(['agent.status']))
    for (let n = 0; n < 5; n++) {
      await Promise.all(['call.status', 'agent.status'].map((type) => publishCopy(copy(type))))
    }
    const count = (type: string) => sent.filter((one) => one === type).length
    expect([count('call.status'), count('agent.status')]).toEqual([1, 5])
  })
})
