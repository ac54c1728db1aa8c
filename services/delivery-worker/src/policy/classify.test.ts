import { type Outcome, Unavailable } from '@switchhook/contracts'
import { classifyError, classifyStatus } from './classify.ts'

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

  test.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EBUSY'])(
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
