import { Webhook } from 'standardwebhooks'
import { inspectPost, lastingHeaders } from './read-post.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const SPANS = [{ secret: SECRET, knownAtMs: 0 }]
const NOW = Date.now()
const said = { deliveryId: 'd1', eventType: 'call.status', headers: { 'x-region': 'eu' } }
const body = Buffer.from('{"remark":"Grüße aus Köln ☎"}')

function signed(more: Record<string, string | undefined> = {}, at = new Date()): Record<string, string | undefined> {
  return {
    'x-svc-event': 'call.status',
    'x-svc-delivery': 'd1',
    'x-svc-attempt': '1',
    'x-region': 'eu',
    'webhook-id': 'd1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('d1', at, body.toString()),
    ...more,
  }
}

const HOUR_AGO = new Date(Date.now() - 3_600_000)

test('finds no flaw in an attempt that is signed with its secret', () => {
  expect(inspectPost(signed(), body, said, SPANS, NOW)).toEqual([])
})

test.each<[string, ReturnType<typeof signed>, string]>([
  ['it is not signed', signed({ 'webhook-signature': undefined }), 'is not signed'],
  ['its signature is empty', signed({ 'webhook-signature': '' }), 'does not verify: Missing required headers'],
  ['it has no time', signed({ 'webhook-timestamp': undefined }), 'does not verify: Missing required headers'],
  [
    'its time is not the signed one',
    signed({ 'webhook-timestamp': '1' }),
    'does not verify: Message timestamp too old',
  ],
  ['it was signed long ago', signed({}, HOUR_AGO), 'does not verify: Message timestamp too old'],
  ['its webhook-id is another', signed({ 'webhook-id': 'd2' }), 'webhook-id is d2, not d1'],
  ['a header of its subscription is another', signed({ 'x-region': 'us' }), 'x-region is us, not eu'],
  ['its delivery is another', signed({ 'x-svc-delivery': 'd2' }), 'x-svc-delivery is d2, not d1'],
  ['it has no event', signed({ 'x-svc-event': undefined }), 'x-svc-event is undefined, not call.status'],
])('reports that %s', (_name, headers, flaw) => {
  expect(inspectPost(headers, body, said, SPANS, NOW)).toContain(flaw)
})

test.each<[string, Buffer, string]>([
  ['another secret', body, OTHER],
  ['another body', Buffer.from('{}'), SECRET],
])('a signature of %s does not verify', (_name, received, secret) => {
  expect(inspectPost(signed(), received, said, [{ secret, knownAtMs: 0 }], NOW)).toEqual([
    'does not verify: No matching signature found',
  ])
})

test('only X-SVC-Attempt may change between attempts, and the order of headers does not matter', () => {
  const [first, second] = [signed(), { ...signed(), 'x-svc-attempt': '2' }]
  expect(lastingHeaders(Object.fromEntries(Object.entries(second).toReversed()))).toBe(lastingHeaders(first))
  expect(lastingHeaders(signed({ 'x-svc-test': 'true' }))).not.toBe(lastingHeaders(first))
})
