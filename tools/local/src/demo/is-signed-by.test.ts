import { isSignedBy } from './is-signed-by.ts'

/** The vector of the reference libraries of Standard Webhooks. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const AT_MS = 1_614_265_330_000
const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': '1614265330',
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const BODY = '{"test": 2432232314}'

const judge = (headers: Readonly<Record<string, string>> = {}, body = BODY, nowMs = AT_MS): boolean =>
  isSignedBy(SECRET, { header: (name) => ({ ...HEADERS, ...headers })[name], body, nowMs })

test('a fresh signature of the secret is accepted, also next to another signature', () => {
  expect(judge()).toBe(true)
  expect(judge({}, BODY, AT_MS + 300_000)).toBe(true)
  expect(judge({ 'webhook-signature': `v1,AAAA ${HEADERS['webhook-signature']}` })).toBe(true)
})

test.each<[string, boolean]>([
  ['another body', judge({}, `${BODY} `)],
  ['another id', judge({ 'webhook-id': 'msg_2' })],
  ['another time', judge({ 'webhook-timestamp': '1614265331' })],
  ['an invalid timestamp', judge({ 'webhook-timestamp': 'now' })],
  ['no signature', judge({ 'webhook-signature': '' })],
  ['another signature', judge({ 'webhook-signature': 'v1,AAAA' })],
  ['a timestamp older than the window', judge({}, BODY, AT_MS + 301_000)],
  ['a timestamp beyond the window in the future', judge({}, BODY, AT_MS - 301_000)],
])('%s is refused', (_what, accepted) => {
  expect(accepted).toBe(false)
})
