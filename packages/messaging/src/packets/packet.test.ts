import { type Delivery, firstDeliveriesOf, newSubscriptionId, parseDelivery, Unparsable } from '@switchhook/contracts'
import * as fc from 'fast-check'
import type { IncomingMessage } from '../message/message.ts'
import { sampleDelivery, sampleEvent } from '../testing/samples.ts'
import { openDeliveryPacket, openEventPacket, packDeliveries, packEvents, type SingleEvent } from './packet.ts'

const received = (content: Buffer, change: Partial<IncomingMessage> = {}): IncomingMessage => ({
  content,
  headers: {},
  exchange: '',
  routingKey: '',
  messageId: 'one',
  type: undefined,
  redelivered: false,
  ...change,
})

describe('a packet of events', () => {
  const singleEvent: fc.Arbitrary<SingleEvent> = fc
    .record(
      {
        content: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        eventType: fc.constantFrom('call.status', 'agent.status', 'a\nb'),
        traceparent: fc.constant('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
      },
      { requiredKeys: ['content', 'eventType'] },
    )
    .map((event) => ({ ...event }))

  test('returns every packed event byte for byte and in order', () => {
    fc.assert(
      fc.property(fc.array(singleEvent, { maxLength: 100 }), (events) => {
        expect(openEventPacket(received(packEvents(events)))).toEqual({ id: 'one', members: events, returns: 0 })
      }),
    )
  })

  test('has a format that the versions before and after it read', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const events = [
      { content: Buffer.from('{"a":1}'), eventType: 'call.status' },
      { content: Buffer.from('{}'), eventType: 'agent.status', traceparent },
    ]
    const text = `[[7,"call.status",null],[2,"agent.status","${traceparent}"]]\n{"a":1}{}`
    expect(packEvents(events).toString()).toBe(text)
  })

  test('tells how often the broker has returned it', () => {
    const returnsOf = (count: unknown) =>
      openEventPacket(received(packEvents([]), { headers: { 'x-delivery-count': count } })).returns
    expect([returnsOf(2), returnsOf('many'), returnsOf(undefined)]).toEqual([2, 0, 0])
  })

  const whole = packEvents([{ content: Buffer.from('{"a":1}'), eventType: 'call.status' }])

  test.each<[string, Buffer]>([
    ['empty', Buffer.alloc(0)],
    ['without an index', Buffer.from('hello')],
    ['with an index that is not JSON', Buffer.from('[[1\n')],
    ['with an index of another form', Buffer.from('{"events":[]}\n')],
    ['with a negative length', Buffer.from('[[-1,"call.status",null]]\n')],
    ['with half a byte', Buffer.from('[[0.5,"call.status",null]]\n')],
    ['without an event type', Buffer.from('[[0,null,null]]\n')],
    ['cut short', whole.subarray(0, whole.length - 1)],
    ['with a byte too many', Buffer.concat([whole, Buffer.from(' ')])],
  ])('%s is unparsable', (_case, content) => {
    expect(() => openEventPacket(received(content))).toThrow(Unparsable)
  })
})

describe('a packet of deliveries', () => {
  const dataJson = JSON.stringify({ text: 'ä'.repeat(500), n: 1.5 })
  const deliveriesOfOneEvent = (count: number): Delivery[] => {
    const deliveryTo = firstDeliveriesOf(sampleEvent(), '2026-11-20T08:30:00.000Z', dataJson)
    return Array.from({ length: count }, () => deliveryTo({ id: newSubscriptionId(), url: 'https://client.example/' }))
  }
  const opened = (packet: Buffer): Delivery[] =>
    openDeliveryPacket(received(packet)).members.map(({ content, headers }) => parseDelivery(content, headers))

  test('returns every delivery as a message of its own would, byte for byte and in order', () => {
    const short = sampleDelivery({ body: Buffer.from('{}') })
    const deliveries = [
      sampleDelivery(),
      ...deliveriesOfOneEvent(3),
      short,
      { ...sampleDelivery(), body: short.body },
      ...deliveriesOfOneEvent(2),
      sampleDelivery({ body: Buffer.from('{"a":1}') }),
      sampleDelivery({ body: Buffer.from('{}') }),
      sampleDelivery({ tenant: null, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
    ]
    expect(opened(packDeliveries(deliveries))).toEqual(deliveries)
  })

  test('carries the body once for all deliveries of an event', () => {
    const packet = packDeliveries(deliveriesOfOneEvent(16))
    expect(packet.toString().split('ä'.repeat(500))).toHaveLength(2)
  })

  test.each<[string, string]>([
    ['without headers', '[[2,null]]\n{}'],
    ['whose first member shares a body', '[[2,{},0]]\n{}'],
    ['that shares the body of a later member', '[[2,{},1],[2,{}]]\n{}{}'],
    ['with a position that is no number', '[[2,{}],[2,{},"0"]]\n{}{}'],
  ])('%s is unparsable', (_case, text) => {
    expect(() => openDeliveryPacket(received(Buffer.from(text)))).toThrow(Unparsable)
  })
})
