import { createHmac } from 'node:crypto'
import { verifyPost } from './verify.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const SENT_MS = Date.parse('2026-11-23T15:00:00Z')
const BODY = '{"deliveryId":"d-1","data":{"name":"Jörg"}}'

function signature(body: string, secret = SECRET): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key)
    .update(`d-1.${SENT_MS / 1_000}.${body}`)
    .digest('base64')}`
}

function post(body: string, { signed = signature(BODY), end = '\n', without = '' } = {}): Buffer {
  const headers = [
    'POST /hook HTTP/1.1',
    'Content-Type: application/json',
    'Webhook-Id: d-1',
    `webhook-timestamp: ${SENT_MS / 1_000}`,
    `webhook-signature: ${signed}`,
  ].filter((line) => without === '' || !line.toLowerCase().startsWith(without))
  return Buffer.from([...headers, '', body].join(end))
}

const verified = (file: Buffer, secrets = [SECRET], nowMs = SENT_MS) => verifyPost(file, secrets, nowMs)

test.each([
  ['as it arrived', post(BODY)],
  ['with the line ends of HTTP', post(BODY, { end: '\r\n' })],
  ['signed with two secrets during a rotation', post(BODY, { signed: `${signature(BODY, OTHER)} ${signature(BODY)}` })],
  ['of another signature version, too', post(BODY, { signed: `v1a,xyz ${signature(BODY)}` })],
])('a POST %s is valid', (_name, file) => {
  expect(verified(file)).toEqual({ id: 'd-1', sentAtMs: SENT_MS, notes: [] })
})

test('one of several secrets is enough', () => {
  expect(verified(post(BODY), [OTHER, SECRET]).id).toBe('d-1')
})

test('the line break of an editor is not part of the body', () => {
  expect(verified(post(`${BODY}\n`))).toMatchObject({ notes: [expect.stringContaining('line break')] })
})

test('an old POST is valid, and would be a replay now', () => {
  expect(verified(post(BODY), [SECRET], SENT_MS + 600_000)).toMatchObject({
    notes: [expect.stringContaining('a receiver would refuse it now')],
  })
})

test.each([
  ['of another secret', post(BODY), [OTHER], 'another subscription or is outdated'],
  ['that a framework has written again', post(BODY.replace(':', ': ')), [SECRET], 'the body was changed'],
  [
    'that is not signed',
    post(BODY, { without: 'webhook-signature' }),
    [SECRET],
    'did not sign, or a proxy removed them',
  ],
  ['without an empty line', Buffer.from('webhook-id: d-1'), [SECRET], 'no empty line'],
  ['with a typo in the secret', post(BODY), [SECRET.slice(0, -9)], 'check it for a typo'],
  ['with half of a secret', post(BODY), [SECRET.slice(0, 26)], 'check it for a typo'],
  ['with a secret without its prefix', post(BODY), [SECRET.replace('whsec_', '')], 'check it for a typo'],
])('a POST %s is not', (_name, file, secrets, reason) => {
  expect(() => verified(file, secrets)).toThrow(
    expect.objectContaining({ exit: 1, message: expect.stringContaining(reason) }),
  )
})
