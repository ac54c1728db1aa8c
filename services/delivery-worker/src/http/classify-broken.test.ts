import { codedError } from '@switchhook/runtime'
import { classifyBroken, StrayAnswer } from './classify-broken.ts'
import type { Use } from './connections.ts'

const reset = codedError('ECONNRESET', 'read ECONNRESET')
const ended = codedError('UND_ERR_SOCKET', 'other side closed')
const refused = codedError('ECONNREFUSED', 'connect ECONNREFUSED')
const unparsable = Object.assign(new Error('Expected HTTP/'), { name: 'HTTPParserError' })
const belowHundred = codedError('ERR_ASSERTION', 'false == true')
const alert = codedError('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate required')
const malformed = expect.objectContaining({ code: 'HPE_MALFORMED' })

/** Of a kept connection on which nothing has arrived since the request. */
const use: Use = { isReused: true, isUnanswered: true, status: 0, alert: undefined }

test.each<[string, Error, Parameters<typeof classifyBroken>[1], ReturnType<typeof classifyBroken>]>([
  ['a connection that was never open', refused, undefined, { sent: refused }],
  ['a kept connection that breaks before the request', reset, 'unwritten', { sent: reset, repeat: 'closed' }],
  ['a kept connection that closes without an answer', reset, use, { sent: reset, repeat: 'closed' }],
  ['a kept connection that ends without an answer', ended, use, { sent: ended, repeat: 'closed' }],
  ['a kept connection that closes within a head', reset, { ...use, isUnanswered: false }, { sent: reset }],
  ['a new connection that closes', reset, { ...use, isReused: false }, { sent: reset }],
  ['a kept connection that fails otherwise', refused, use, { sent: refused }],
  ['a kept connection with bytes that are no head', unparsable, use, { sent: malformed, repeat: 'stray' }],
  [
    'a kept connection whose interim answer is odd',
    unparsable,
    { ...use, status: 103 },
    { sent: malformed, repeat: 'stray' },
  ],
  ['a new connection with bytes that are no head', unparsable, { ...use, isReused: false }, { sent: malformed }],
  ['a head that is too long', codedError('UND_ERR_HEADERS_OVERFLOW', ''), undefined, { sent: malformed }],
  ['an unexpected 101', codedError('UND_ERR_SOCKET', 'bad upgrade'), { ...use, isReused: false }, { sent: malformed }],
  ['bytes that are no head on an unknown connection', unparsable, undefined, { sent: malformed }],
  [
    'a status line that an odd header follows',
    unparsable,
    { ...use, status: 204 },
    { sent: { kind: 'delivered', status: 204, detail: 'the head has an odd line: Expected HTTP/' } },
  ],
  [
    'a kept connection that closes after a status',
    reset,
    { ...use, isUnanswered: false, status: 410 },
    { sent: { kind: 'answered', status: 410, detail: 'the connection ended before the head of the answer did' } },
  ],
  [
    'a kept connection that closes after a status that a parser sends to what it cannot read',
    reset,
    { ...use, isUnanswered: false, status: 400 },
    { sent: reset, repeat: 'stray' },
  ],
  [
    'a new connection that closes after such a status',
    reset,
    { ...use, isReused: false, isUnanswered: false, status: 400 },
    { sent: { kind: 'answered', status: 400, detail: 'the connection ended before the head of the answer did' } },
  ],
  [
    'a TLS alert after a status',
    reset,
    { ...use, isUnanswered: false, status: 200, alert },
    { sent: { kind: 'delivered', status: 200, detail: 'the connection ended before the head of the answer did' } },
  ],
  [
    'a connection that closes after an interim answer',
    ended,
    { ...use, isUnanswered: false, status: 103 },
    { sent: ended },
  ],
  ['a connection that fails otherwise after a status', refused, { ...use, status: 200 }, { sent: refused }],
  ['a status below 100', belowHundred, { ...use, isReused: false, isUnanswered: false }, { sent: malformed }],
  [
    'a status below 100 on a kept connection',
    belowHundred,
    { ...use, isUnanswered: false },
    { sent: malformed, repeat: 'stray' },
  ],
  ['an assertion before anything has arrived', belowHundred, use, { sent: belowHundred }],
  [
    'an answer to something else',
    new StrayAnswer('400'),
    { ...use, status: 400 },
    { sent: malformed, repeat: 'stray' },
  ],
  ['a TLS alert on a kept connection', reset, { ...use, alert }, { sent: alert }],
])('%s', (_what, error, ofConnection, expected) => expect(classifyBroken(error, ofConnection)).toEqual(expected))
