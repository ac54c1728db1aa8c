import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelModel } from 'amqplib'
import { createPublisher } from './publisher.ts'

describe('a route on which nothing is stored', () => {
  type Answer = (confirm: (error?: Error) => void, doReturn: () => void) => void
  const stores: Answer = (confirm) => confirm()
  const returns: Answer = (confirm, doReturn) => {
    doReturn()
    confirm()
  }
  const refuses: Answer = (confirm) => confirm(new Error('message nacked'))
  const isSilent: Answer = () => {}

  /** @param answerOn the broker's answer to the messages of each route, by the number of the channel */
  async function aPublisher(answerOn: (routingKey: string, channel: number) => Answer) {
    const failures: string[] = []
    const closed: number[] = []
    let channels = 0
    const createConfirmChannel = async () => {
      const number = ++channels
      const channel = new EventEmitter()
      return Object.assign(channel, {
        publish: (exchange: string, routingKey: string, _content: Buffer, properties: object, confirm: () => void) =>
          answerOn(routingKey, number)(confirm, () =>
            channel.emit('return', { fields: { exchange, routingKey }, properties }),
          ),
        close: async () => void closed.push(number),
      })
    }
    const model = Object.assign(new EventEmitter(), { createConfirmChannel })
    const session = {
      model: model as unknown as ChannelModel,
      fail: (error: Error) => void failures.push(error.message),
    }
    const publisher = createPublisher({ changed: () => {}, confirmTimeoutMs: 100, stuckAfterMs: 300 })
    await publisher.attach(session)
    const publish = (routingKey: string, send: 'publish' | 'publishCopy' = 'publish') =>
      publisher[send]({ exchange: 'x', routingKey, content: Buffer.from('{}'), properties: {} }).then(
        () => 'stored',
        (error: Error) => error.message,
      )
    return {
      publish,
      failures,
      closed,
      channels: () => channels,
      /** Publishes on each route until `isDone`. Returns the results. */
      publishUntil: async (isDone: (results: ReadonlySet<string>) => boolean, ...routingKeys: readonly string[]) => {
        const results = new Set<string>()
        const end = performance.now() + 10_000
        while (!isDone(results) && performance.now() < end) {
          for (const key of routingKeys) void publish(key).then((result) => results.add(`${key}: ${result}`))
          await sleep(10)
        }
        return results
      },
    }
  }

  test.each<[string, Answer]>([
    ['refuses', refuses],
    ['does not answer', isSilent],
  ])('costs only the channel while others are served: the broker %s', async (_case, bad) => {
    const { publishUntil, failures, channels } = await aPublisher((key) => (key === 'bad' ? bad : stores))
    const results = await publishUntil(() => channels() > 2 || failures.length > 0, 'bad', 'good')
    expect([...results].filter((result) => result.startsWith('good'))).toEqual(['good: stored'])
    expect(failures).toEqual([])
  })

  test('is served again on another channel, and the former one is closed after the deadline of its messages', async () => {
    const { publishUntil, failures, channels, closed } = await aPublisher((key, channel) =>
      key === 'bad' && channel === 1 ? refuses : stores,
    )
    await publishUntil((results) => results.has('bad: stored') || failures.length > 0, 'bad', 'good')
    expect(closed).toEqual([])
    await publishUntil(() => closed.length > 0 || failures.length > 0, 'bad', 'good')
    expect([failures, channels(), closed]).toEqual([[], 2, [1]])
  })

  test.each<[string, Answer]>([
    ['refuses', refuses],
    ['does not answer', isSilent],
  ])('costs the connection if the broker %s every message', async (_case, bad) => {
    const { publishUntil, failures, channels } = await aPublisher(() => bad)
    await publishUntil(() => failures.length > 0, 'one', 'two')
    expect(failures[0]).toMatch(/^no message was stored under (one|two) for 300 ms$/)
    expect(channels()).toBe(1)
  })

  // For these, RabbitMQ needs no majority.
  test.each<[string, 'publish' | 'publishCopy', Answer]>([
    ['returned copies', 'publishCopy', returns],
    ['copies', 'publishCopy', stores],
    ['returned messages', 'publish', returns],
  ])('costs the connection if the broker confirms only %s', async (_case, send, answer) => {
    const { publish, publishUntil, failures, channels } = await aPublisher((key) => (key === 'one' ? isSilent : answer))
    let confirmed = 0
    const timer = setInterval(() => void publish(`key ${confirmed++}`, send), 20)
    await publishUntil(() => failures.length > 0 || channels() > 1, 'one')
    clearInterval(timer)
    expect([failures[0], channels()]).toEqual(['no message was stored under one for 300 ms', 1])
  })

  test.each<[string, Answer]>([
    ['refuses all', refuses],
    ['answers none', isSilent],
  ])('costs the connection if the broker stored messages before, and now %s', async (_case, bad) => {
    let answer = stores
    const { publishUntil, failures, channels } = await aPublisher(() => answer)
    await publishUntil((results) => results.has('one: stored'), 'one')
    answer = bad
    await publishUntil(() => failures.length > 0 || channels() > 1, 'one')
    expect([failures[0], channels()]).toEqual(['no message was stored under one for 300 ms', 1])
  })

  test('costs the connection if its next channel stores nothing', async () => {
    const { publishUntil, failures, channels } = await aPublisher((key, channel) =>
      key === 'bad' || channel > 1 ? refuses : stores,
    )
    await publishUntil(() => failures.length > 0 || channels() > 2, 'bad', 'good')
    expect([failures.length > 0, channels()]).toEqual([true, 2])
  })
})
