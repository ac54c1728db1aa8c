import { showsSecrets } from './common-fields.ts'

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
])('DEBUG=%s shows secrets: %s', (debug, shows) => {
  expect(showsSecrets(debug)).toBe(shows)
})
