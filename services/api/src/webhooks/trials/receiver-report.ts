import { type CheckedPost, type CheckFacts, isTransientStatus, type UnreachableReason } from '@switchhook/contracts'
import { choice, completeComponent, list, orNull, text, type ValueOf } from '../../http/schema.ts'

export const CHECKS = [
  'delivery',
  'speed',
  'duplicate',
  'forged-signature',
  'stale-timestamp',
  'kept-connection',
] as const

const findingSchema = completeComponent('ReceiverFinding', 'The result of one check.', {
  check: choice(
    CHECKS,
    '`delivery`: the endpoint acknowledges a delivery. `speed`: within half of the timeout. `duplicate`: it acknowledges the same delivery ' +
      'again. `forged-signature`: it rejects a wrong signature with a 4xx. `stale-timestamp`: it rejects an old timestamp with a 4xx. ' +
      '`kept-connection`: on a connection that it keeps, it sends nothing but one answer to each request.',
    'delivery',
  ),
  result: choice(['passed', 'failed', 'skipped'], '`skipped`: the check could not run.', 'passed'),
  seen: text('The observed answer. For people; the wording may change.', 'Status 204 after 31 ms.'),
  advice: orNull(text('What to fix; null if there is nothing to fix. For people; the wording may change.', null)),
})

type Finding = ValueOf<typeof findingSchema>

export const receiverReportSchema = completeComponent('ReceiverReport', 'The findings of a check, with advice.', {
  verdict: choice(['good', 'needs-work'], '`needs-work`: at least one check failed.', 'good'),
  findings: list('One finding per check.', findingSchema),
})

/** Turns a worker's observations of an endpoint into findings and advice. No I/O. */
export function createReceiverReport(facts: CheckFacts) {
  const { plain, duplicate, forged, stale, sendsStrays, isSigned, deadlineMs } = facts
  const isDelivered = plain.outcome === 'delivered'
  const answerFirst =
    `An attempt that takes longer than ${deadlineMs} ms times out and is retried. Put the delivery into a queue of your own, ` +
    'answer, and process it afterwards.'
  const rejection = (check: Finding['check'], post: CheckedPost | undefined, advice: string): Finding => {
    if (post === undefined) return skipped(check, isSigned ? NOT_DELIVERED : NOT_SIGNED)
    const { status } = post
    const isRejected = status !== null && (status < 200 || status >= 300)
    const isFinal = isRejected && status >= 400 && status < 500 && !isTransientStatus(status)
    return finding(check, isFinal, post, isRejected ? REJECT_FINALLY : advice)
  }
  const findings = [
    finding('delivery', isDelivered, plain, adviceFor(plain)),
    isDelivered
      ? finding('speed', plain.durationMs <= deadlineMs / 2, plain, answerFirst)
      : skipped('speed', 'Not measured: the first delivery was not acknowledged.'),
    duplicate === undefined
      ? skipped('duplicate', NOT_DELIVERED)
      : finding('duplicate', duplicate.outcome === 'delivered', duplicate, IGNORE_DUPLICATES),
    rejection('forged-signature', forged, VERIFY_SIGNATURES),
    rejection('stale-timestamp', stale, VERIFY_TIMESTAMPS),
    keptConnection(sendsStrays),
  ]
  return { verdict: findings.some(({ result }) => result === 'failed') ? 'needs-work' : 'good', findings }
}

/** @param sendsStrays absent: the duplicate was not sent */
function keptConnection(sendsStrays: boolean | undefined): Finding {
  const check = 'kept-connection'
  if (sendsStrays === undefined) return skipped(check, NOT_DELIVERED)
  return sendsStrays
    ? { check, result: 'failed', seen: STRAY_SEEN, advice: READ_THE_BODY }
    : { check, result: 'passed', seen: 'Each answer was that to its request.', advice: null }
}

const STRAY_SEEN =
  'On a kept connection something arrived that was no answer to the request, which was repeated on a new one.'

const READ_THE_BODY =
  'Read the whole body of each request before you answer; otherwise its rest is taken for the next request, whose answer is a 400 or 501. Send ' +
  'one answer to each request, and no body after a 204. Or close the connection with each answer. Until then, each delivery gets a new connection.'

const IGNORE_DUPLICATES =
  'The same delivery can arrive more than once, with the same X-SVC-Delivery. Answer a duplicate with a 2xx and ignore it; otherwise it is ' +
  'retried or parked.'

const VERIFY_SIGNATURES =
  'Anyone who knows the url can send you this. Verify webhook-signature before you trust a body, and answer 401 if it does not match.'

const VERIFY_TIMESTAMPS =
  'Anyone who has seen a delivery can send it to you again later. Reject a webhook-timestamp that is more than five minutes off: answer 401.'

const REJECT_FINALLY =
  'The endpoint rejected the request, but not with a final status. Answer 401: after a 5xx, 408, 425 or 429 a delivery is retried for half a day, and a ' +
  'redirect hides that the signature was the reason.'

const NOT_DELIVERED = 'Not sent: the first delivery was not acknowledged.'
const NOT_SIGNED = 'Not sent: the deliveries of this subscription are not signed.'

const skipped = (check: Finding['check'], seen: string): Finding => ({ check, result: 'skipped', seen, advice: null })

/** @param advice for a failed check */
const finding = (check: Finding['check'], isGood: boolean, post: CheckedPost, advice: string): Finding => ({
  check,
  result: isGood ? 'passed' : 'failed',
  seen: `${post.status === null ? `No answer (${post.outcome})` : `Status ${post.status}`} after ${Math.round(post.durationMs)} ms.`,
  advice: isGood ? null : advice,
})

/** Advice for each way in which a delivery gets no answer. No check lapses. */
const UNANSWERED: Readonly<Record<Exclude<UnreachableReason, 'lapsed'>, string>> = {
  timeout:
    'Answer before you process: put the delivery into a queue of your own and answer immediately with a 2xx. If no request arrives, check whether a firewall drops it.',
  dns: 'The host name of the url does not resolve in the DNS that this installation uses. Check its spelling and its DNS record.',
  refused: 'Nothing listens at this address and port. Start the endpoint, or correct the port in the url.',
  tls: 'The TLS handshake failed: the certificate is untrusted, expired, for another name, or its chain is incomplete, or the port does not serve TLS. Serve the full chain of a certificate from a public authority.',
  reset:
    'The connection was closed before an answer arrived. Check how the endpoint, or a proxy in front of it, handles a POST with a JSON body.',
  network: 'The address cannot be reached. Check the route from this installation and your firewall.',
  malformed: 'The answer was not valid HTTP. Check that the scheme and port of the url belong to a web server.',
  blocked:
    'The address is private, local or reserved, and this installation does not send webhooks there. Use a public address, or ask the operator to allow your network (WEBHOOK_ALLOWED_NETWORKS).',
  'unusable-url':
    'This installation can no longer send to this url. Change the subscription to an absolute http or https url.',
  proxy:
    'The proxy through which this installation sends webhooks made no connection. Your endpoint is not at fault; tell the operator.',
}

function adviceFor({ outcome, status }: CheckedPost): string {
  if (outcome === 'delivered' || outcome === 'answered') return adviceForStatus(status ?? 0)
  const advice: Readonly<Record<string, string | undefined>> = UNANSWERED
  // A newer worker may store an outcome that is not in the type.
  return (
    advice[outcome] ??
    `The attempt failed with the outcome ${outcome}, which this version of the api cannot explain yet.`
  )
}

function adviceForStatus(status: number): string {
  if (status >= 300 && status < 400) {
    return 'Redirects are never followed; a redirect parks the delivery. Change the subscription to the final url.'
  }
  if (status === 401 || status === 403) {
    return (
      'The endpoint, or a proxy in front of it, requires a login. Let the path through without one, and verify the signature instead. If the ' +
      'endpoint does verify signatures, check that it uses the current secret of this subscription.'
    )
  }
  if (status === 404 || status === 410) return 'There is nothing at this path. Correct the url of the subscription.'
  if (status === 405) return 'The path does not accept POST. Correct the url, or accept POST there.'
  if (isTransientStatus(status) && status < 500) {
    return 'The endpoint asks to retry later. Deliveries are retried on a schedule; let the endpoint accept them at the rate of your events.'
  }
  if (status >= 500) {
    return 'The endpoint failed on an ordinary delivery. Such a delivery is retried on a schedule and then parked. Look at the log of the endpoint at this time.'
  }
  return 'The endpoint rejected an ordinary delivery, which parks it. Answer every delivery with a 2xx, even one that you do not use.'
}
