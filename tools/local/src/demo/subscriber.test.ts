import { isSignedBy } from './subscriber.ts'

/** The test vector of the Standard Webhooks reference libraries. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const AT_MS = 1_614_265_330_000
const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const BODY = '{"test": 2432232314}'

const check = (headers: Readonly<Record<string, string>> = {}, body = BODY, nowMs = AT_MS): boolean =>
  isSignedBy(SECRET, { header: (name) => ({ ...HEADERS, ...headers })[name], body, nowMs })

test('a fresh signature of the secret is accepted, also next to another signature', () => {
  expect(check()).toBe(true)
  expect(check({}, BODY, AT_MS + 300_000)).toBe(true)
  expect(check({ 'webhook-signature': `v1,AAAA ${HEADERS['webhook-signature']}` })).toBe(true)
})

test.each<[string, boolean]>([
  ['another body', check({}, `${BODY} `)],
  ['another id', check({ 'webhook-id': 'msg_2' })],
  ['another time', check({ 'webhook-timestamp': '1614265331' })],
  ['an invalid timestamp', check({ 'webhook-timestamp': 'now' })],
  ['no signature', check({ 'webhook-signature': '' })],
  ['another signature', check({ 'webhook-signature': 'v1,AAAA' })],
  ['a timestamp older than the window', check({}, BODY, AT_MS + 301_000)],
  ['a timestamp beyond the window in the future', check({}, BODY, AT_MS - 301_000)],
])('%s is refused', (_what, accepted) => {
  expect(accepted).toBe(false)
})
