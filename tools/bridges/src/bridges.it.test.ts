import { createClient, SignInFailed } from '@switchhook/client'
import { eventually, type TestBroker, testBroker } from '@switchhook/testkit'
import { connect } from 'amqplib'
import { type Delivery, moveDeliveries, Refused } from './move-deliveries.ts'
import { toKafka } from './to-kafka.ts'
import { toRabbitMq } from './to-rabbitmq.ts'

const delivery = (deliveryId: string, eventType = 'call.status'): Delivery => ({
  deliveryId,
  attempt: 1,
  leaseToken: `lease-${deliveryId}`,
  leasedUntil: '2026-11-20T17:06:31.173Z',
  headers: { 'X-SVC-Event': eventType, 'X-SVC-Delivery': deliveryId },
  body: '{"data":{"callId":"c-1"}}',
})

/** An api that has these deliveries, and the outcomes that were reported to it. At first it does not answer. */
function anApi(...deliveries: readonly Delivery[]) {
  const reported: { readonly deliveryId: string; readonly status?: number; readonly release?: true }[] = []
  let left = deliveries
  const awayFor: Error[] = [new SignInFailed('the identity provider does not answer'), new TypeError('fetch failed')]
  const client = createClient({
    baseUrl: 'http://127.0.0.1',
    maxRetries: 0,
    auth: async () => {
      if (awayFor[0] instanceof SignInFailed) throw awayFor.shift()
      return 'token'
    },
    fetch: async (address, init) => {
      const away = awayFor.shift()
      if (away !== undefined) throw away
      const body = JSON.parse(init?.body as string) as { readonly items: typeof reported }
      if ((address as string).endsWith('/outcomes')) {
        reported.push(...body.items)
        return Response.json({ items: [] })
      }
      const items = left
      left = []
      if (items.length === 0) await new Promise((resolve) => setImmediate(resolve))
      return Response.json({ items, held: 0, oldestHeldAt: null })
    },
  })
  return { client, reported }
}

describe('RabbitMQ', () => {
  let broker: TestBroker
  beforeAll(async () => {
    broker = await testBroker()
  })
  afterAll(() => broker.close())

  test('a delivery is acknowledged once a queue has it, and retried if no queue takes it', async () => {
    const connection = await connect(broker.amqpUrl)
    const channel = await connection.createConfirmChannel()
    const { queue } = await channel.assertQueue('calls', { durable: true })
    await channel.bindQueue(queue, 'amq.topic', 'call.*')
    const { client, reported } = anApi(delivery('d-1'), delivery('d-2', 'agent.status'), delivery('d-3'))
    const stop = new AbortController()
    const moving = moveDeliveries(client, 's-1', toRabbitMq(channel, 'amq.topic'), stop.signal)
    await eventually(() => expect(reported.map(({ status }) => status)).toEqual([200, 503, 200]))
    stop.abort()
    await moving
    const message = await channel.get(queue)
    expect(message).toMatchObject({
      fields: { routingKey: 'call.status' },
      properties: { messageId: 'd-1', deliveryMode: 2, headers: { 'X-SVC-Delivery': 'd-1' } },
    })
    expect(message && message.content.toString()).toBe(delivery('d-1').body)
    await connection.close()
  })

  test('a delivery that no queue takes is retried, also if it was received alone', async () => {
    const connection = await connect(broker.amqpUrl)
    const channel = await connection.createConfirmChannel()
    const { client, reported } = anApi(delivery('d-1', 'agent.status'))
    const stop = new AbortController()
    const moving = moveDeliveries(client, 's-1', toRabbitMq(channel, 'amq.topic'), stop.signal)
    await eventually(() => expect(reported).toMatchObject([{ deliveryId: 'd-1', status: 503 }]))
    stop.abort()
    await moving
    await connection.close()
  })

  test('deliveries are given back, without an attempt, if the channel has closed', async () => {
    const connection = await connect(broker.amqpUrl)
    const channel = await connection.createConfirmChannel()
    const { client, reported } = anApi(delivery('d-1'), delivery('d-2'))
    const { signal } = new AbortController()
    await expect(moveDeliveries(client, 's-1', toRabbitMq(channel, 'no-such-exchange'), signal)).rejects.toThrow(
      'closed',
    )
    expect(reported).toMatchObject([
      { deliveryId: 'd-1', release: true },
      { deliveryId: 'd-2', release: true },
    ])
    await connection.close()
  })
})

test('a refused delivery is retried, and the others are given back, if the queue goes away', async () => {
  const { client, reported } = anApi(delivery('d-1'), delivery('d-2'))
  const store = async ({ deliveryId }: Delivery) => {
    throw deliveryId === 'd-1' ? new Refused('no queue takes it') : new Error('closed')
  }
  await expect(moveDeliveries(client, 's-1', store, new AbortController().signal)).rejects.toThrow('closed')
  expect(reported).toMatchObject([
    { deliveryId: 'd-1', status: 503 },
    { deliveryId: 'd-2', release: true },
  ])
})

test('Kafka gets the call as the key, and a delivery that it refuses is retried', async () => {
  const sent: unknown[] = []
  const store = toKafka(
    {
      send: async ({ messages, ...record }) => {
        if (messages[0]?.headers['X-SVC-Delivery'] === 'd-2') throw new Error('not in sync')
        sent.push(record, ...messages)
      },
    },
    'calls',
  )
  const { client, reported } = anApi(delivery('d-1'), delivery('d-2'))
  const stop = new AbortController()
  const moving = moveDeliveries(client, 's-1', store, stop.signal)
  await eventually(() => expect(reported.map(({ status }) => status)).toEqual([200, 503]))
  stop.abort()
  await moving
  const { headers, body: value } = delivery('d-1')
  expect(sent).toEqual([
    { topic: 'calls', acks: -1 },
    { key: 'c-1', value, headers },
  ])
})

test('a delivery that Kafka never takes is retried, also if it was received alone', async () => {
  const send = async (): Promise<void> => {
    throw Object.assign(new Error('The request included a message larger than the max message size'), { code: 10 })
  }
  const { client, reported } = anApi(delivery('d-1'))
  const stop = new AbortController()
  const moving = moveDeliveries(client, 's-1', toKafka({ send }, 'calls'), stop.signal)
  await eventually(() => expect(reported).toMatchObject([{ deliveryId: 'd-1', status: 503 }]))
  stop.abort()
  await moving
})
