import { Unparsable } from '@switchhook/contracts'
import type { SingleEvent } from '@switchhook/messaging'
import * as fc from 'fast-check'
import { decodePack, encodePack } from './pack.ts'

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

test('a pack returns every event as it was packed, byte for byte and in order', () => {
  fc.assert(
    fc.property(fc.array(singleEvent, { maxLength: 100 }), (events) => {
      expect(decodePack({ content: encodePack(events), headers: {} })).toEqual({ events, returns: 0 })
    }),
  )
})

test('the broker’s count of deliveries is the number of returns', () => {
  const content = encodePack([])
  expect(decodePack({ content, headers: { 'x-delivery-count': 2 } }).returns).toBe(2)
  expect(decodePack({ content, headers: { 'x-delivery-count': 'many' } }).returns).toBe(0)
})

const whole = encodePack([{ content: Buffer.from('{"a":1}'), eventType: 'call.status' }])

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
])('a pack %s is unparsable', (_case, content) => {
  expect(() => decodePack({ content, headers: {} })).toThrow(Unparsable)
})
