import * as fc from 'fast-check'
import { withoutCredentials } from './without-credentials.ts'

test.each<[string, string]>([
  ['connect to amqp://user:secret@broker:5672/vhost failed', 'connect to amqp://***@broker:5672/vhost failed'],
  ['redis://:secret@cache', 'redis://***@cache'],
  ['two: http://a:b@one/x http://c:d@two', 'two: http://***@one/x http://***@two'],
  ['a blunt one: amqp://user:p@ss@broker', 'a blunt one: amqp://***@broker'],
  ['{"url":"https://u:p@h/x","mail":"a@b"}', '{"url":"https://***@h/x","mail":"a@b"}'],
  ['{"path":"//","mail":"a@b"}', '{"path":"//","mail":"a@b"}'],
  ['sip:alice@acme.example', 'sip:alice@acme.example'],
  ['https://h/x?mail=a@b', 'https://h/x?mail=a@b'],
  ['https://h?mail=a@b', 'https://h?mail=a@b'],
])('%s', (text, expected) => expect(withoutCredentials(text)).toBe(expected))

test('whatever a url has for user and password, neither is left', () => {
  const url = fc
    .tuple(fc.webUrl(), fc.stringMatching(/^[A-Z]{8}$/), fc.string({ minLength: 1 }))
    .map(([base, user, password]) => {
      const full = new URL(base)
      full.username = user
      full.password = password
      return { full: full.href, user }
    })
  fc.assert(fc.property(url, ({ full, user }) => expect(withoutCredentials(`at ${full}`)).not.toContain(user)))
})

test('a line of JSON stays one', () => {
  fc.assert(fc.property(fc.json(), (json) => void JSON.parse(withoutCredentials(json))))
})
