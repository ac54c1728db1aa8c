import type { Channel, Message } from 'amqplib'
import * as fc from 'fast-check'
import { createAckBatch } from './ack-batch.ts'

interface Ack {
  readonly tag: number
  readonly allUpTo: boolean
}

/** How a broker interprets the acks of a channel: AMQP 0-9-1, basic.ack. */
class Broker {
  readonly outstanding = new Set<number>()
  readonly acked: number[] = []
  readonly acks: Ack[] = []

  channel(): Channel {
    const ack = ({ fields: { deliveryTag: tag } }: Message, allUpTo = false): void => {
      this.acks.push({ tag, allUpTo })
      const meant = allUpTo ? [...this.outstanding].filter((each) => each <= tag) : [tag]
      for (const each of meant) {
        if (!this.outstanding.delete(each)) throw new Error('acked twice, which ends the channel')
        this.acked.push(each)
      }
    }
    return { ack } as unknown as Channel
  }
}

const message = (deliveryTag: number) => ({ fields: { deliveryTag } }) as Message

function given(count: number, { delayMs = 0, prefetch = 1 } = {}) {
  const broker = new Broker()
  const batch = createAckBatch(broker.channel(), prefetch, delayMs)
  const messages = Array.from({ length: count }, (_, i) => message(i + 1))
  for (const { fields } of messages) broker.outstanding.add(fields.deliveryTag)
  for (const each of messages) batch.taken(each)
  return { broker, batch, messages }
}

test('one ack covers the messages up to the oldest in flight; later ones get one ack each', () => {
  const { broker, batch, messages } = given(6)
  for (const done of [4, 1, 0, 2, 5]) batch.done(messages[done] ?? message(0))
  batch.close()
  expect(broker.acks).toEqual([
    { tag: 3, allUpTo: true },
    { tag: 5, allUpTo: false },
    { tag: 6, allUpTo: false },
  ])
})

test('a message that was returned holds up no ack of a later one', () => {
  const { broker, batch, messages } = given(3)
  batch.returned(messages[0] ?? message(0), () => broker.outstanding.delete(1))
  for (const done of [1, 2]) batch.done(messages[done] ?? message(0))
  batch.close()
  expect(broker.acks).toEqual([{ tag: 3, allUpTo: true }])
})

test('with no message in flight, one ack covers everything', () => {
  const { broker, batch, messages } = given(100)
  for (const each of messages.toReversed()) batch.done(each)
  batch.close()
  expect(broker.acks).toEqual([{ tag: 100, allUpTo: true }])
  expect(broker.outstanding.size).toBe(0)
})

describe('acknowledgements that may wait', () => {
  beforeEach(() => jest.useFakeTimers())
  afterEach(() => {
    // A wake-up that is still set on this clock would never come on the next one.
    jest.advanceTimersByTime(200)
    jest.useRealTimers()
  })

  test('a few wait for the shared wake-up, many are sent sooner', () => {
    const [few, many] = [given(3, { prefetch: 24 }), given(3, { prefetch: 24 })]
    for (const message of few.messages.slice(1)) few.batch.done(message)
    for (const message of many.messages) many.batch.done(message)
    jest.advanceTimersByTime(5)
    expect([few.broker.acked, many.broker.acked]).toEqual([[], [1, 2, 3]])
    jest.advanceTimersByTime(150)
    expect(few.broker.acked).toEqual([2, 3])
  })

  test('few are sent sooner if messages in flight leave the broker little room', () => {
    const { broker, batch, messages } = given(22, { prefetch: 24 })
    batch.done(messages[0] ?? message(0))
    batch.done(messages[1] ?? message(0))
    jest.advanceTimersByTime(5)
    expect(broker.acked).toEqual([1, 2])
  })

  test('one ack covers messages that ended in any order, once the earlier ones have ended', () => {
    const { broker, batch, messages } = given(6, { delayMs: 100, prefetch: 16 })
    for (const done of [4, 1, 5, 3]) batch.done(messages[done] ?? message(0))
    jest.advanceTimersByTime(50)
    expect(broker.acks).toEqual([])
    for (const done of [0, 2]) batch.done(messages[done] ?? message(0))
    jest.advanceTimersByTime(5)
    expect(broker.acks).toEqual([{ tag: 6, allUpTo: true }])
  })

  test('behind a message that takes long, they are sent one by one at the shared wake-up after their time', () => {
    const { broker, batch, messages } = given(4, { delayMs: 100, prefetch: 8 })
    batch.done(messages[2] ?? message(0))
    jest.advanceTimersByTime(60)
    batch.done(messages[3] ?? message(0))
    jest.advanceTimersByTime(39)
    expect(broker.acked).toEqual([])
    jest.advanceTimersByTime(210)
    expect(broker.acks).toEqual([
      { tag: 3, allUpTo: false },
      { tag: 4, allUpTo: false },
    ])
  })

  test('beyond their limit the oldest are sent, and at the end all of them', () => {
    const { broker, batch, messages } = given(6, { delayMs: 100, prefetch: 8 })
    for (const done of [5, 1, 3, 2]) batch.done(messages[done] ?? message(0))
    jest.advanceTimersByTime(5)
    expect(broker.acked).toEqual([6, 2])
    batch.close()
    expect(broker.acked).toEqual([6, 2, 4, 3])
  })

  test('once closed, it sends neither a nack nor an ack, which might cover a message that was never returned', () => {
    const { broker, batch, messages } = given(4, { delayMs: 100, prefetch: 16 })
    for (const done of [0, 2]) batch.done(messages[done] ?? message(0))
    batch.close()
    batch.returned(messages[1] ?? message(0), () => broker.acked.push(-2))
    batch.done(messages[3] ?? message(0))
    jest.advanceTimersByTime(1_000)
    batch.close()
    expect(broker.acked).toEqual([1, 3])
  })

  test('in any order, exactly the handled messages are acknowledged, each once', () => {
    const step = fc.record({
      at: fc.nat(),
      what: fc.constantFrom('done', 'done', 'given back', 'taken', 'time passes'),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const broker = new Broker()
        const batch = createAckBatch(broker.channel(), 10, 0)
        const inFlight: Message[] = []
        const done: number[] = []
        let tags = 0
        for (const { at, what } of steps) {
          if (what === 'time passes') jest.advanceTimersByTime(200)
          else if (what === 'taken' || inFlight.length === 0) {
            tags += 1
            broker.outstanding.add(tags)
            inFlight.push(message(tags))
            batch.taken(message(tags))
          } else {
            const [chosen = message(0)] = inFlight.splice(at % inFlight.length, 1)
            const { deliveryTag } = chosen.fields
            if (what === 'done') {
              done.push(deliveryTag)
              batch.done(chosen)
            } else {
              batch.returned(chosen, () => broker.outstanding.delete(deliveryTag))
            }
          }
        }
        batch.close()
        expect(new Set(broker.acked)).toEqual(new Set(done))
        expect(broker.acked).toHaveLength(done.length)
      }),
    )
  })
})
