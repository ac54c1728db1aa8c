import { secretivePart } from './common-fields.ts'

test.each([
  ['*', true],
  ['ioredis:*', true],
  ['express:*, io*', true],
  ['ioredis:redis', true],
  ['*:redis', true],
  ['', false],
  ['true', false],
  ['express:*', false],
  ['ioredis:cluster', false],
  ['-ioredis:redis', false],
])('DEBUG=%s prints secrets: %s', (value, prints) => {
  expect(secretivePart('DEBUG', value) !== undefined).toBe(prints)
})

test.each([
  ['*', 'http'],
  ['NET', 'net'],
  ['https', 'https'],
  ['stream', 'stream'],
  ['module,Undici', 'undici'],
  ['f*', 'fetch'],
  ['module,timer,tls', undefined],
  ['', undefined],
])('NODE_DEBUG=%s turns on %s', (value, part) => {
  expect(secretivePart('NODE_DEBUG', value)).toBe(part)
})
