import { type CheckedPost, type CheckFacts, UNREACHABLE_REASONS } from '@switchhook/contracts'
import { CHECKS, judgeReceiver } from './receiver-report.ts'

const status = (code: number, durationMs = 40): CheckedPost => ({
  outcome: code < 300 ? 'delivered' : 'answered',
  status: code,
  durationMs,
})
const silent = (outcome: CheckedPost['outcome']): CheckedPost => ({ outcome, status: null, durationMs: 10_000 })

const facts = (change: Partial<CheckFacts> = {}): CheckFacts => ({
  deadlineMs: 10_000,
  isSigned: false,
  plain: status(204),
  duplicate: status(204),
  ...change,
})
const signed = (change: Partial<CheckFacts> = {}): CheckFacts =>
  facts({ isSigned: true, forged: status(401), stale: status(400), ...change })

test.each<[string, CheckFacts, string]>([
  ['does everything right, unsigned', facts(), 'passed passed passed skipped skipped'],
  ['does everything right, signed', signed(), 'passed passed passed passed passed'],
  ['takes exactly half of the deadline', facts({ plain: status(200, 5_000) }), 'passed passed passed skipped skipped'],
  ['takes longer', facts({ plain: status(200, 5_001) }), 'passed failed passed skipped skipped'],
  ['refuses a duplicate', facts({ duplicate: status(409) }), 'passed passed failed skipped skipped'],
  ['does not answer a duplicate', facts({ duplicate: silent('timeout') }), 'passed passed failed skipped skipped'],
  ['believes a forged signature', signed({ forged: status(200) }), 'passed passed passed failed passed'],
  ['fails at a forged signature', signed({ forged: status(500) }), 'passed passed passed failed passed'],
  ['asks to send a forged one later', signed({ forged: status(429) }), 'passed passed passed failed passed'],
  ['redirects a stale one', signed({ stale: status(302) }), 'passed passed passed passed failed'],
  ['believes a stale timestamp', signed({ stale: status(204) }), 'passed passed passed passed failed'],
  ['hangs up on a stale one', signed({ stale: silent('reset') }), 'passed passed passed passed failed'],
])('an endpoint that %s', (_name, seen, results) => {
  const { verdict, findings } = judgeReceiver(seen)
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
  [status(418), /any 2xx/],
  [status(429), /later/],
  [status(500), /log of this moment/],
  [silent('timeout'), /Answer before the work is done/],
  [silent('dns'), /public DNS/],
  [silent('refused'), /Nothing listens/],
  [silent('tls'), /certificate/],
  [silent('reset'), /closed before an answer/],
  [silent('network'), /firewall/],
  [silent('malformed'), /not HTTP/],
  [silent('blocked'), /WEBHOOK_ALLOWED_NETWORKS/],
  [silent('unusable-url'), /absolute http or https url/],
])('a first delivery that comes to %j is explained, and nothing else is judged', (plain, advice) => {
  const { verdict, findings } = judgeReceiver({ deadlineMs: 10_000, isSigned: true, plain })
  expect(verdict).toBe('needs-work')
  expect(findings.map(({ result }) => result)).toEqual(['failed', 'skipped', 'skipped', 'skipped', 'skipped'])
  expect(findings[0]?.advice).toMatch(advice)
  expect(findings[0]?.seen).toContain(plain.status === null ? plain.outcome : String(plain.status))
})

test('whoever refuses in a way that is tried again is told to answer 401, not to verify', () => {
  for (const code of [302, 408, 425, 429, 500]) {
    const { findings } = judgeReceiver(signed({ forged: status(code) }))
    expect(findings[3]?.advice).toMatch(/answer 401/)
  }
})

test('no two reasons for silence get the same advice', () => {
  const advice = UNREACHABLE_REASONS.map(
    (reason) => judgeReceiver({ deadlineMs: 1, isSigned: false, plain: silent(reason) }).findings[0]?.advice,
  )
  expect(new Set(advice).size).toBe(UNREACHABLE_REASONS.length)
})

test('an outcome that only a newer worker knows fails the delivery check, with advice', () => {
  const newer = { outcome: 'quic-refused', status: null, durationMs: 3 } as unknown as CheckedPost
  const [finding] = judgeReceiver(facts({ plain: newer })).findings
  expect(finding).toMatchObject({
    check: 'delivery',
    result: 'failed',
    seen: 'No answer (quic-refused) after 3 ms.',
    advice: expect.stringContaining('quic-refused'),
  })
})
