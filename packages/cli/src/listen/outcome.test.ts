import { type Forwarded, outcomeOf, outcomeText } from './outcome.ts'

const failed = (code: string): Forwarded => ({ code, durationMs: 12.4 })

test.each<[string, Forwarded, object, string]>([
  ['a success', { status: 204, durationMs: 12.4 }, { status: 204, durationMs: 12 }, '204'],
  [
    'a success, whose answer is not sent',
    { status: 200, durationMs: 1, answer: 'ok' },
    { status: 200, durationMs: 1 },
    '200',
  ],
  [
    'a defect, with its answer',
    { status: 500, durationMs: 1, answer: 'TypeError' },
    { status: 500, durationMs: 1, answer: 'TypeError' },
    '500',
  ],
  ['a redirect', { status: 302, durationMs: 1, answer: '' }, { status: 302, durationMs: 1 }, '302'],
  ['nothing listens', failed('ECONNREFUSED'), { release: true }, 'refused'],
  ['no answer in time', failed('TimeoutError'), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['no connection in time', failed('UND_ERR_CONNECT_TIMEOUT'), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['no packet', failed('ETIMEDOUT'), { error: 'timeout', durationMs: 12 }, 'timeout'],
  ['an unknown host', failed('ENOTFOUND'), { error: 'dns', durationMs: 12 }, 'dns'],
  ['an own certificate', failed('DEPTH_ZERO_SELF_SIGNED_CERT'), { error: 'tls', durationMs: 12 }, 'tls'],
  ['no TLS', failed('ERR_SSL_WRONG_VERSION_NUMBER'), { error: 'tls', durationMs: 12 }, 'tls'],
  ['no HTTP', failed('HPE_INVALID_CONSTANT'), { error: 'malformed', durationMs: 12 }, 'malformed'],
  ['a crash', failed('ECONNRESET'), { error: 'reset', durationMs: 12 }, 'reset'],
  ['a closed socket', failed('UND_ERR_SOCKET'), { error: 'reset', durationMs: 12 }, 'reset'],
  ['no route', failed('EHOSTUNREACH'), { error: 'network', durationMs: 12 }, 'network'],
  ['no code', failed(''), { error: 'network', durationMs: 12 }, 'network'],
])('%s', (_name, forwarded, outcome, text) => {
  expect(outcomeOf(forwarded)).toEqual(outcome)
  expect(outcomeText(outcomeOf(forwarded))).toBe(text)
})
