import { createNetworkMatcher } from './network-matcher.ts'

const NETWORKS = ['10.1.0.0/16', '192.0.2.7', 'fd00:1::/32', '2001:db8::7', '::ffff:172.16.0.0/108']

test.each<[string | undefined, boolean]>([
  ['10.1.2.3', true],
  ['10.2.0.1', false],
  ['::ffff:10.1.2.3', true],
  ['::ffff:a01:203', true],
  ['::ffff:10.2.0.1', false],
  ['192.0.2.7', true],
  ['192.0.2.8', false],
  ['fd00:1:2::3', true],
  ['fd00:2::3', false],
  ['2001:db8::7', true],
  ['2001:db8:0:0:0:0:0:7', true],
  ['2001:db8::8', false],
  ['172.20.0.1', true],
  ['::ffff:172.20.0.1', true],
  ['172.32.0.1', false],
  ['unknown', false],
  ['10.1.2.3, 10.1.2.4', false],
  ['10.1.2.3:4711', false],
  ['', false],
  [undefined, false],
])('%s is trusted: %s', (address, expected) => {
  expect(createNetworkMatcher(NETWORKS)(address)).toBe(expected)
})

test('without networks no address is trusted', () => {
  expect(createNetworkMatcher([])('127.0.0.1')).toBe(false)
})
