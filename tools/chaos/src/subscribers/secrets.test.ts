import { Webhook } from 'standardwebhooks'
import { rotateSpans, type SecretSpan, signatureFlaws } from './secrets.ts'

const OLD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NEW = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const body = Buffer.from('{}')
/** When the rotation was requested, and answered: whole seconds, as `webhook-timestamp` is. */
const REQUESTED = Math.floor(Date.now() / 1_000) * 1_000
const ANSWERED = REQUESTED + 100
const OVERLAP = 10_000

const before: readonly SecretSpan[] = [{ secret: OLD, knownAtMs: REQUESTED - 60_000 }]
const after = rotateSpans(before, NEW, OVERLAP, REQUESTED, ANSWERED)

/** Flaws of a POST that is signed with these secrets, so many ms after the request for the rotation. */
function flawsOf(secrets: readonly string[], afterMs: number, spans: readonly SecretSpan[] = after): readonly string[] {
  const at = new Date(REQUESTED + afterMs)
  const headers = {
    'webhook-id': 'd1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('d1', at, body.toString())).join(' '),
  }
  return signatureFlaws(headers, body, spans, at.getTime())
}

test.each<[string, readonly string[], number]>([
  ['only the previous secret while the new one propagates', [OLD], 1_000],
  ['both secrets during the overlap', [NEW, OLD], 5_000],
  ['only the new secret around the end of the overlap', [NEW], 10_000],
  ['only the new secret after the overlap', [NEW], 60_000],
])('nothing is wrong with %s', (_name, secrets, afterMs) => {
  expect(flawsOf(secrets, afterMs)).toEqual([])
})

test.each<[string, readonly string[], number, string]>([
  ['the new secret is not used', [OLD], 4_000, 'is not signed with secret 2 of 2'],
  ['the previous secret is not used during the overlap', [NEW], 5_000, 'is not signed with secret 1 of 2'],
  ['only a retired secret is used', [OLD], 13_000, 'is signed only with retired secrets'],
  ['no secret fits', ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'], 5_000, 'does not verify: No matching signature found'],
])('it is a flaw if %s', (_name, secrets, afterMs, flaw) => {
  expect(flawsOf(secrets, afterMs)).toEqual([flaw])
})

test('a later rotation with a short overlap retires the earlier secrets as well', () => {
  const latest = rotateSpans(after, 'whsec_AAAA', 0, REQUESTED + 2_000, REQUESTED + 2_100)
  expect(latest.map(({ retired }) => retired?.latestMs)).toEqual([undefined, REQUESTED + 2_100, REQUESTED + 2_100])
})

test('a later rotation with a long overlap does not extend earlier secrets', () => {
  const latest = rotateSpans(after, 'whsec_AAAA', 60_000, REQUESTED + 2_000, REQUESTED + 2_100)
  expect(latest.at(-1)?.retired).toEqual({ earliestMs: REQUESTED + OVERLAP, latestMs: ANSWERED + OVERLAP })
})

test('a POST without a signature is not verified', () => {
  expect(signatureFlaws({}, body, before, REQUESTED)).toEqual(['is not signed'])
})
