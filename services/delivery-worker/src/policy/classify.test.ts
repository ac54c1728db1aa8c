import { type Outcome, Unavailable } from '@switchhook/contracts'
import { classifyError, classifyStatus, MAX_RETRY_AFTER_MS, retryAfterMsOf } from './classify.ts'

const failed = (code: string, cause?: unknown): Error => Object.assign(new Error(code, { cause }), { code })

describe('classifyStatus', () => {
  test.each<[number, Outcome]>([
    [200, { kind: 'delivered', status: 200 }],
    [202, { kind: 'delivered', status: 202 }],
    [299, { kind: 'delivered', status: 299 }],
    [300, { kind: 'answered', status: 300 }],
    [404, { kind: 'answered', status: 404 }],
    [500, { kind: 'answered', status: 500 }],
  ])('%i', (status, expected) => expect(classifyStatus(status)).toEqual(expected))
})

describe('classifyError', () => {
  test.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['ETIMEDOUT', 'timeout'],
    ['EHOSTUNREACH', 'network'],
    ['ENETUNREACH', 'network'],
    ['EAFNOSUPPORT', 'network'],
    ['ENOTCONN', 'network'],
    ['ENAMETOOLONG', 'network'],
    ['ERR_SOCKET_CLOSED', 'reset'],
    ['ERR_STREAM_PREMATURE_CLOSE', 'reset'],
    ['ERR_OSSL_EVP_UNSUPPORTED', 'tls'],
    ['ETIMEOUT', 'dns'],
    ['ESERVFAIL', 'dns'],
    ['ENOTIMP', 'dns'],
    ['HPE_INVALID_CONSTANT', 'malformed'],
    ['HPE_HEADER_OVERFLOW', 'malformed'],
    ['EPROTO', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_HEADERS_OVERFLOW', 'malformed'],
    ['UND_ERR_SOCKET', 'reset'],
    ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'malformed'],
    ['UND_ERR_INVALID_ARG', 'unusable-url'],
    ['ERR_EGRESS_PROXY', 'proxy'],
    ['ERR_NO_NAME_SERVER', 'dns'],
  ])('%s is %s', (code, reason) => {
    expect(classifyError(failed(code))).toEqual({ kind: 'unreachable', reason })
  })

  test('the code of the cause is used if the error has none', () => {
    expect(classifyError(new Error('wrapped', { cause: failed('ECONNREFUSED') }))).toEqual({
      kind: 'unreachable',
      reason: 'refused',
    })
  })

  test.each([
    ['a bug', new TypeError('undefined is not a function')],
    ['a wrong argument', failed('ERR_INVALID_ARG_TYPE')],
    ['our own cancellation', failed('UND_ERR_ABORTED')],
    ['our own shutdown', failed('UND_ERR_DESTROYED')],
    ['a value that is not an error', 'oops'],
  ])('%s does not count against the endpoint', (_name, error) => {
    expect(() => classifyError(error)).toThrow(error as Error)
  })

  test.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EBUSY', 'ERR_NO_LOCAL_PORT'])(
    '%s is a shortage of this process, which may pass',
    (code) => {
      const cause = failed(code)
      for (const error of [cause, new Error('wrapped', { cause })]) {
        const expected = expect.objectContaining({ dependency: 'process', cause: error }) as Unavailable
        expect(() => classifyError(error)).toThrow(Unavailable)
        expect(() => classifyError(error)).toThrow(expected)
      }
    },
  )
})

describe('retryAfterMsOf', () => {
  const NOW_MS = Date.parse('2026-11-23T12:00:00Z')

  test.each([
    ['seconds', 429, { 'retry-after': '30' }, 30_000],
    ['a date', 503, { 'retry-after': 'Mon, 23 Nov 2026 12:01:00 GMT' }, 60_000],
    [
      'a date of an endpoint whose clock is an hour ahead',
      503,
      { 'retry-after': 'Mon, 23 Nov 2026 13:01:00 GMT', date: 'Mon, 23 Nov 2026 13:00:00 GMT' },
      60_000,
    ],
    ['two times, of which the first counts', 503, { 'retry-after': ['30', '60'], date: ['x', 'y'] }, 30_000],
    ['seconds with blanks around them', 429, { 'retry-after': ' 60 \t' }, 60_000],
    ['a date with blanks around it', 503, { 'retry-after': '\tMon, 23 Nov 2026 12:01:00 GMT ', date: ' ' }, 60_000],
    ['a date of RFC 850', 503, { 'retry-after': 'Monday, 23-Nov-26 12:01:00 GMT' }, 60_000],
    ['a date of asctime', 503, { 'retry-after': 'Mon Nov 23 12:01:00 2026' }, 60_000],
    [
      'a date of asctime with one digit, after a date of RFC 850',
      429,
      { 'retry-after': 'Fri Jan  1 00:01:00 2027', date: 'Friday, 01-Jan-27 00:00:00 GMT ' },
      60_000,
    ],
    ['a date of asctime in another zone', 503, { 'retry-after': 'Mon Nov 23 12:01:00 PST 2026' }, undefined],
    ['more than a quarter of an hour', 429, { 'retry-after': '86400' }, MAX_RETRY_AFTER_MS],
    ['a number beyond all bounds', 429, { 'retry-after': '9'.repeat(400) }, MAX_RETRY_AFTER_MS],
    ['no time', 429, { 'retry-after': '0' }, undefined],
    ['a date that has passed', 503, { 'retry-after': 'Mon, 23 Nov 2026 11:59:00 GMT' }, undefined],
    ['nothing', 429, {}, undefined],
    ['an empty text', 429, { 'retry-after': '' }, undefined],
    ['a negative number', 429, { 'retry-after': '-5' }, undefined],
    ['a fraction, which Date.parse takes for a date', 429, { 'retry-after': '1.5' }, undefined],
    ['words', 503, { 'retry-after': 'tomorrow, GMT' }, undefined],
    ['seconds with another status', 500, { 'retry-after': '30' }, undefined],
    ['seconds with a redirect', 301, { 'retry-after': '30' }, undefined],
  ])('an answer that asks for %s', (_what, status, headers, retryAfterMs) => {
    expect(retryAfterMsOf(status, headers, NOW_MS)).toBe(retryAfterMs)
  })
})
