import { isConsumerMissing, type Sighting } from './consumer-channel.ts'

const seen = (change: Partial<Sighting> = {}): Sighting => ({
  consumers: 2,
  ready: 10,
  taken: 5,
  hasRoom: true,
  ...change,
})

test.each<[string, Sighting | undefined, Sighting, boolean]>([
  ['no consumer on the queue', undefined, seen({ consumers: 0 }), true],
  ['no consumer on an empty queue', seen(), seen({ consumers: 0, ready: 0 }), true],
  ['a single sighting', undefined, seen(), false],
  ['messages were ready, the channel had room, none arrived', seen(), seen(), true],
  ['messages arrived', seen(), seen({ taken: 6 }), false],
  ['no message was ready before', seen({ ready: 0 }), seen(), false],
  ['no message is ready now', seen(), seen({ ready: 0 }), false],
  ['there was no room before', seen({ hasRoom: false }), seen(), false],
  ['there is no room now', seen(), seen({ hasRoom: false }), false],
])('%s', (_case, before, now, expected) => {
  expect(isConsumerMissing(before, now)).toBe(expected)
})
