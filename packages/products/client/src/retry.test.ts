import { backoffMs, type Failed, type Reaction, reactionTo, retryAfterMs } from './retry.ts'

const POST: Failed = { method: 'POST', hasKey: false, mayHaveRun: true }
const KEYED: Failed = { ...POST, hasKey: true }
const GET: Failed = { ...POST, method: 'GET', mayHaveRun: false }

test.each<[string, Failed, Reaction]>([
  ['a rate limit', { ...POST, status: 429, code: 'rate-limited', mayHaveRun: false }, 'retry'],
  ['too many checks', { ...POST, status: 429, code: 'too-many-checks', mayHaveRun: false }, 'retry'],
  ['a proxy’s rate limit', { ...POST, status: 429 }, 'retry'],
  ['an unavailable platform', { ...POST, status: 503, code: 'platform-unavailable', mayHaveRun: false }, 'retry'],
  ['a key in use', { ...KEYED, status: 409, code: 'idempotency-key-in-use' }, 'retry'],
  ['no answer to a GET', GET, 'retry'],
  ['no answer to a PATCH', { ...POST, method: 'PATCH' }, 'retry'],
  ['no answer to a DELETE', { ...POST, method: 'DELETE' }, 'retry'],
  ['no answer to a POST with a key', KEYED, 'retry'],
  ['no answer to a POST without a key', POST, 'give-up'],
  ['a POST without a key that was not sent', { ...POST, mayHaveRun: false }, 'retry'],
  ['500 to a POST with a key', { ...KEYED, status: 500, code: 'internal' }, 'retry'],
  ['500 to a POST without a key', { ...POST, status: 500, code: 'internal' }, 'give-up'],
  ['502 of a proxy', { ...GET, status: 502 }, 'retry'],
  ['503 of the service', { ...KEYED, status: 503, code: 'service-unavailable' }, 'retry'],
  ['504 to a POST without a key', { ...POST, status: 504 }, 'give-up'],
  ['501', { ...GET, status: 501 }, 'give-up'],
  ['a rejected token', { ...KEYED, status: 401, code: 'unauthorized' }, 'renew-token'],
  ['a missing agentUri', { ...KEYED, status: 401, code: 'missing-agent-uri' }, 'give-up'],
  ['401 of a proxy', { ...KEYED, status: 401 }, 'give-up'],
  [
    '404 to a repeated DELETE',
    { ...KEYED, method: 'DELETE', status: 404, code: 'subscription-not-found', mayHaveRun: true },
    'done',
  ],
  [
    '404 to a first DELETE',
    { ...KEYED, method: 'DELETE', status: 404, code: 'subscription-not-found', mayHaveRun: false },
    'give-up',
  ],
  ['404 of a proxy to a repeated DELETE', { ...KEYED, method: 'DELETE', status: 404, mayHaveRun: true }, 'give-up'],
  ['409 of a state', { ...KEYED, status: 409, code: 'invalid-call-state' }, 'give-up'],
  ['409 too-many-secrets', { ...KEYED, status: 409, code: 'too-many-secrets' }, 'give-up'],
  ['400', { ...GET, status: 400, code: 'invalid-request' }, 'give-up'],
  ['an unfinished check', { ...POST, status: 503, code: 'check-unfinished', mayHaveRun: false }, 'give-up'],
])('%s', (_name, failed, reaction) => {
  expect(reactionTo(failed)).toBe(reaction)
})

test.each<[number, number, number]>([
  [0, 0, 250],
  [0, 1, 500],
  [1, 1, 1_000],
  [4, 0, 4_000],
  [9, 1, 15_000],
])('the wait after %i tries lies between half of a doubling step and the whole', (tries, random, ms) => {
  expect(backoffMs(tries, random)).toBe(ms)
})

test.each<[string | null, number | undefined]>([
  ['5', 5_000],
  ['0', 0],
  ['Thu, 01 Jan 1970 00:00:09 GMT', 8_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
  ['soon', undefined],
  [null, undefined],
])('Retry-After: %s', (header, ms) => {
  jest.spyOn(Date, 'now').mockReturnValue(1_000)
  expect(retryAfterMs(header)).toBe(ms)
})
