import { type CheckedPost, type CheckFacts, UNREACHABLE_REASONS } from '@switchhook/contracts'
import { CHECKS, createReceiverReport } from './receiver-report.ts'

const status = (code: number, durationMs = 40): CheckedPost => ({
  outcome: code < 300 ? 'delivered' : 'answered',
  status: code,
  durationMs,
})
const unanswered = (outcome: CheckedPost['outcome']): CheckedPost => ({ outcome, status: null, durationMs: 10_000 })

const facts = (change: Partial<CheckFacts> = {}): CheckFacts => ({
  deadlineMs: 10_000,
  isSigned: false,
  plain: status(204),
  duplicate: status(204),
  sendsStrays: false,
  ...change,
})
const signed = (change: Partial<CheckFacts> = {}): CheckFacts =>
  facts({ isSigned: true, forged: status(401), stale: status(400), ...change })

test.each<[string, CheckFacts, string]>([
  ['passes every check, unsigned', facts(), 'passed passed passed skipped skipped passed'],
  ['passes every check, signed', signed(), 'passed passed passed passed passed passed'],
  [
    'takes exactly half of the timeout',
    facts({ plain: status(200, 5_000) }),
    'passed passed passed skipped skipped passed',
  ],
  [
    'takes longer than half of the timeout',
    facts({ plain: status(200, 5_001) }),
    'passed failed passed skipped skipped passed',
  ],
  ['rejects a duplicate', facts({ duplicate: status(409) }), 'passed passed failed skipped skipped passed'],
  [
    'does not answer a duplicate',
    facts({ duplicate: unanswered('timeout') }),
    'passed passed failed skipped skipped passed',
  ],
  ['accepts a forged signature', signed({ forged: status(200) }), 'passed passed passed failed passed passed'],
  ['answers 500 to a forged signature', signed({ forged: status(500) }), 'passed passed passed failed passed passed'],
  ['answers 429 to a forged signature', signed({ forged: status(429) }), 'passed passed passed failed passed passed'],
  ['redirects a stale timestamp', signed({ stale: status(302) }), 'passed passed passed passed failed passed'],
  ['accepts a stale timestamp', signed({ stale: status(204) }), 'passed passed passed passed failed passed'],
  [
    'closes the connection on a stale timestamp',
    signed({ stale: unanswered('reset') }),
    'passed passed passed passed failed passed',
  ],
  ['does not read bodies', facts({ sendsStrays: true }), 'passed passed passed skipped skipped failed'],
])('an endpoint that %s', (_name, seen, results) => {
  const { verdict, findings } = createReceiverReport(seen)
  expect(findings.map(({ check }) => check)).toEqual(CHECKS)
  expect(findings.map(({ result }) => result).join(' ')).toBe(results)
  expect(verdict).toBe(results.includes('failed') ? 'needs-work' : 'good')
  for (const { result, advice } of findings) expect(typeof advice).toBe(result === 'failed' ? 'string' : 'object')
})

test.each<[CheckedPost, RegExp]>([
  [status(307), /Redirects are never followed/],
  [status(401), /login/],
  [status(404), /nothing at this path/],
  [status(405), /POST/],
  [status(410), /nothing at this path/],
  [status(418), /with a 2xx/],
  [status(429), /later/],
  [status(500), /log of the endpoint/],
  [unanswered('timeout'), /Answer before you process/],
  [unanswered('dns'), /DNS record/],
  [unanswered('refused'), /Nothing listens/],
  [unanswered('tls'), /certificate/],
  [unanswered('reset'), /closed before an answer/],
  [unanswered('network'), /firewall/],
  [unanswered('malformed'), /not valid HTTP/],
  [unanswered('blocked'), /WEBHOOK_ALLOWED_NETWORKS/],
  [unanswered('unusable-url'), /absolute http or https url/],
  [unanswered('proxy'), /tell the operator/],
])('a first delivery with %j gets advice, and the other checks are skipped', (plain, advice) => {
  const { verdict, findings } = createReceiverReport({ deadlineMs: 10_000, isSigned: true, plain })
  expect(verdict).toBe('needs-work')
  expect(findings.map(({ result }) => result)).toEqual(['failed', ...Array<string>(5).fill('skipped')])
  expect(findings[0]?.advice).toMatch(advice)
  expect(findings[0]?.seen).toContain(plain.status === null ? plain.outcome : String(plain.status))
})

test('an endpoint that rejects with a retried status is advised to answer 401, not to verify', () => {
  for (const code of [302, 408, 425, 429, 500]) {
    const { findings } = createReceiverReport(signed({ forged: status(code) }))
    expect(findings[3]?.advice).toMatch(/Answer 401/)
  }
})

test('each outcome without an answer gets its own advice', () => {
  const advice = UNREACHABLE_REASONS.map(
    (reason) => createReceiverReport({ deadlineMs: 1, isSigned: false, plain: unanswered(reason) }).findings[0]?.advice,
  )
  expect(new Set(advice).size).toBe(UNREACHABLE_REASONS.length)
})

test('an outcome that only a newer worker knows fails the delivery check, with advice', () => {
  const newer = { outcome: 'quic-refused', status: null, durationMs: 3 } as unknown as CheckedPost
  const [finding] = createReceiverReport(facts({ plain: newer })).findings
  expect(finding).toMatchObject({
    check: 'delivery',
    result: 'failed',
    seen: 'No answer (quic-refused) after 3 ms.',
    advice: expect.stringContaining('quic-refused'),
  })
})
