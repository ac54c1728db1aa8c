import { Writable } from 'node:stream'
import { createLogger, type Logger } from './logger.ts'

function capture(level = 'debug'): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
  let written = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      written += String(chunk)
      done()
    },
  })
  const lines = () =>
    written
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log: createLogger('worker', level, stream), lines, text: () => written }
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

test('an error is told with its name, message, causes and stack', () => {
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

test('an error that is its own cause is told all the same', () => {
  const { log, lines } = capture()
  const error = new Error('round')
  error.cause = error
  log.warn('x', { error })
  expect(lines()).toMatchObject([{ error: 'round' }])
})

test('a url shows its credentials nowhere: not in the message, an error, its cause, its stack or a field', () => {
  const { log, text, lines } = capture()
  const url = 'amqp://user:secret@broker:5672/v'
  log.error(`cannot reach ${url}`, { error: new Error(url, { cause: new Error(url) }), url, nested: { urls: [url] } })
  expect(text()).not.toMatch(/secret|user/)
  expect(lines()[0]).toMatchObject({
    message: 'cannot reach amqp://***@broker:5672/v',
    url: 'amqp://***@broker:5672/v',
  })
})

test('what is odd is logged as far as it goes, rather than throwing at whoever logs', () => {
  const { log, lines } = capture()
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  log.info('odd', { circle, big: 10n, nothing: undefined, error: 'text only' })
  expect(lines()).toMatchObject([{ message: 'odd', error: 'text only' }])
})
