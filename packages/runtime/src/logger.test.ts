import * as fc from 'fast-check'
import { createLogger, type Logger, withoutCredentials } from './logger.ts'

function capture(level = 'debug'): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
  let written = ''
  const write = (line: string): void => void (written += `${line}\n`)
  const lines = () =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log: createLogger('worker', level, write), lines, text: () => written }
}

test('a line is one JSON object with time, level, service, message and the fields', () => {
  const { log, lines } = capture()
  log.info('started', { port: 8080, nested: { list: [1] } })
  expect(lines()).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: 'info',
      service: 'worker',
      message: 'started',
      port: 8080,
      nested: { list: [1] },
    },
  ])
})

test('text with line breaks stays on one line', () => {
  const { log, text } = capture()
  log.info('a\nb', { c: 'd\r\ne' })
  expect(text().split('\n')).toHaveLength(2)
})

test('a message or a field with a format token is written as it is', () => {
  const { log, lines } = capture()
  log.info('100 %s', { message: 'other', level: 'other', service: 'other', cause: '%d' })
  expect(lines()).toMatchObject([{ message: '100 %s', level: 'info', service: 'worker', cause: '%d' }])
})

test.each([
  ['error', ['error']],
  ['warn', ['error', 'warn']],
  ['info', ['error', 'warn', 'info']],
  ['debug', ['error', 'warn', 'info', 'debug']],
])('at level %s, %p are written', (level, expected) => {
  const { log, lines } = capture(level)
  log.error('x')
  log.warn('x')
  log.info('x')
  log.debug('x')
  expect(lines().map((line) => line['level'])).toEqual(expected)
})

test('an error is logged with its name, message, causes and stack', () => {
  const { log, lines } = capture()
  const root = new Error('connect ECONNREFUSED')
  log.warn('waiting', { error: new TypeError('no answer', { cause: new Error('closed', { cause: root }) }) })
  expect(lines()).toMatchObject([
    {
      message: 'waiting',
      error: 'no answer',
      errorName: 'TypeError',
      causes: ['closed', 'connect ECONNREFUSED'],
      stack: expect.stringContaining('logger.test.ts'),
    },
  ])
})

test('an error that is its own cause is logged', () => {
  const { log, lines } = capture()
  const error = new Error('round')
  error.cause = error
  log.warn('x', { error })
  expect(lines()).toMatchObject([{ error: 'round' }])
})

test('no URL shows its credentials: not in the message, an error, its cause, its stack or a field', () => {
  const { log, text, lines } = capture()
  const url = 'amqp://user:secret@broker:5672/v'
  log.error(`cannot reach ${url}`, { error: new Error(url, { cause: new Error(url) }), url, nested: { urls: [url] } })
  expect(text()).not.toMatch(/secret|user/)
  expect(lines()[0]).toMatchObject({
    message: 'cannot reach amqp://***@broker:5672/v',
    url: 'amqp://***@broker:5672/v',
  })
})

test('values that JSON cannot represent are logged as far as possible, without an exception', () => {
  const { log, lines } = capture()
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  log.info('odd', { circle, big: 10n, nothing: undefined, error: 'text only' })
  expect(lines()).toMatchObject([{ message: 'odd', error: 'text only' }])
})

test.each<[string, string]>([
  ['connect to amqp://user:secret@broker:5672/vhost failed', 'connect to amqp://***@broker:5672/vhost failed'],
  ['redis://:secret@cache', 'redis://***@cache'],
  ['two: http://a:b@one/x http://c:d@two', 'two: http://***@one/x http://***@two'],
  ['an unescaped @: amqp://user:p@ss@broker', 'an unescaped @: amqp://***@broker'],
  ['{"url":"https://u:p@h/x","mail":"a@b"}', '{"url":"https://***@h/x","mail":"a@b"}'],
  ['{"path":"//","mail":"a@b"}', '{"path":"//","mail":"a@b"}'],
  ['sip:alice@acme.example', 'sip:alice@acme.example'],
  ['https://h/x?mail=a@b', 'https://h/x?mail=a@b'],
  ['https://h?mail=a@b', 'https://h?mail=a@b'],
])('credentials are removed from %j', (text, expected) => expect(withoutCredentials(text)).toBe(expected))

test('no URL keeps its user or password', () => {
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

test('a line of JSON stays valid JSON', () => {
  fc.assert(fc.property(fc.json(), (json) => void JSON.parse(withoutCredentials(json))))
})
