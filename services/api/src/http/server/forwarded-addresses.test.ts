import { addressIn } from './forwarded-addresses.ts'

test.each<[string, string | undefined]>([
  ['10.1.1.1', '10.1.1.1'],
  [' 10.1.1.1:51234', '10.1.1.1'],
  ['[fd00::7]:51234', 'fd00::7'],
  ['[fd00::7]', 'fd00::7'],
  ['fd00::7', 'fd00::7'],
  ['::ffff:10.1.1.1', '::ffff:10.1.1.1'],
  ['[::ffff:10.1.1.1]:80', '::ffff:10.1.1.1'],
  ['unknown', undefined],
  ['10.1.1.1:', undefined],
  ['10.1.1:80', undefined],
  ['10.1.1.1:512345', undefined],
  ['10.1.1.1:80:80', undefined],
  ['for=10.1.1.1', undefined],
  ['', undefined],
])('%j has the address %s', (part, address) => {
  expect(addressIn(part)).toBe(address)
})
