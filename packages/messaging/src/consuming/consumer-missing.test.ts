import { isConsumerMissing, type Sighting } from './consumer-channel.ts'

const seen = (change: Partial<Sighting> = {}): Sighting => ({ consumers: 2, taken: 5, couldTake: true, ...change })

test.each<[string, Sighting | undefined, Sighting, boolean]>([
  ['no consumer on the queue', undefined, seen({ consumers: 0 }), true],
  ['no consumer on an empty queue', seen(), seen({ consumers: 0, couldTake: false }), true],
  ['a single sighting', undefined, seen(), false],
  ['messages were ready, the channel had room, none arrived', seen(), seen(), true],
  ['messages arrived', seen(), seen({ taken: 6 }), false],
  ['no message was ready before, or there was no room', seen({ couldTake: false }), seen(), false],
  ['no message is ready now, or there is no room', seen(), seen({ couldTake: false }), false],
])('%s', (_case, before, now, expected) => {
  expect(isConsumerMissing(before, now)).toBe(expected)
})
