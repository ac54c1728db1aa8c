import { type CheckedPost, type CheckFacts, isTransientStatus } from '@switchhook/contracts'

export const CHECKS = ['delivery', 'speed', 'duplicate', 'forged-signature', 'stale-timestamp'] as const

/** The result of one check: one obligation of receivers, and whether this endpoint meets it. */
interface Finding {
  readonly check: (typeof CHECKS)[number]
  /** `skipped`: the check could not run. */
  readonly result: 'passed' | 'failed' | 'skipped'
  readonly seen: string
  /** What the owner of the endpoint should do; null if nothing. */
  readonly advice: string | null
}

/** Turns a worker's observations of an endpoint into findings and advice. No I/O. */
export function createReceiverReport(facts: CheckFacts) {
  const findings = [checkDelivery(facts), checkSpeed(facts), checkDuplicate(facts), ...checkRejections(facts)]
  return { verdict: findings.some(({ result }) => result === 'failed') ? 'needs-work' : 'good', findings }
}

function checkDelivery({ plain }: CheckFacts): Finding {
  const isGood = plain.outcome === 'delivered'
  return finding('delivery', isGood, plain, isGood ? null : adviceFor(plain))
}

function checkSpeed({ plain, deadlineMs }: CheckFacts): Finding {
  if (plain.outcome !== 'delivered') return skipped('speed', 'Not measured: the first delivery was not acknowledged.')
  const isFast = plain.durationMs <= deadlineMs / 2
  const advice =
    `An attempt that takes longer than ${deadlineMs} ms times out and is retried. Put the delivery into a queue of your own, ` +
    'answer, and process it afterwards.'
  return finding('speed', isFast, plain, isFast ? null : advice)
}

function checkDuplicate({ duplicate }: CheckFacts): Finding {
  if (duplicate === undefined) return skipped('duplicate', NOT_DELIVERED)
  const isGood = duplicate.outcome === 'delivered'
  const advice =
    'The same delivery can arrive more than once, with the same X-SVC-Delivery. Answer a duplicate with a 2xx and ignore it; otherwise it is ' +
    'retried or parked.'
  return finding('duplicate', isGood, duplicate, isGood ? null : advice)
}

function checkRejections({ isSigned, forged, stale }: CheckFacts): Finding[] {
  const checkRejection = (check: Finding['check'], post: CheckedPost | undefined, advice: string): Finding => {
    if (post === undefined) return skipped(check, isSigned ? NOT_DELIVERED : NOT_SIGNED)
    if (post.status !== null && (post.status < 200 || post.status >= 300)) {
      const isFinal = post.status >= 400 && post.status < 500 && !isTransientStatus(post.status)
      return finding(check, isFinal, post, isFinal ? null : REJECT_FINALLY)
    }
    return finding(check, false, post, advice)
  }
  return [
    checkRejection(
      'forged-signature',
      forged,
      'Anyone who knows the url can send you this. Verify webhook-signature before you trust a body, and answer 401 if it does not match.',
    ),
    checkRejection(
      'stale-timestamp',
      stale,
      'Anyone who has seen a delivery can send it to you again later. Reject a webhook-timestamp that is more than five minutes off: answer 401.',
    ),
  ]
}

const REJECT_FINALLY =
  'The endpoint rejected the request, but not with a final status. Answer 401: after a 5xx, 408, 425 or 429 a delivery is retried for half a day, and a ' +
  'redirect hides that the signature was the reason.'

const NOT_DELIVERED = 'Not sent: the first delivery was not acknowledged.'
const NOT_SIGNED = 'Not sent: the deliveries of this subscription are not signed.'

const skipped = (check: Finding['check'], seen: string): Finding => ({ check, result: 'skipped', seen, advice: null })

const finding = (check: Finding['check'], isGood: boolean, post: CheckedPost, advice: string | null): Finding => ({
  check,
  result: isGood ? 'passed' : 'failed',
  seen: `${post.status === null ? `No answer (${post.outcome})` : `Status ${post.status}`} after ${Math.round(post.durationMs)} ms.`,
  advice,
})

/** Advice for each way in which a delivery is not acknowledged. */
function adviceFor({ outcome, status }: CheckedPost): string {
  switch (outcome) {
    case 'delivered':
    case 'answered':
      return adviceForStatus(status ?? 0)
    case 'timeout':
      return 'Answer before you process: put the delivery into a queue of your own and answer immediately with a 2xx. If no request arrives, check whether a firewall drops it.'
    case 'dns':
      return 'The host name of the url does not resolve in the DNS that this installation uses. Check its spelling and its DNS record.'
    case 'refused':
      return 'Nothing listens at this address and port. Start the endpoint, or correct the port in the url.'
    case 'tls':
      return 'The TLS handshake failed: the certificate is untrusted, expired, for another name, or its chain is incomplete, or the port does not serve TLS. Serve the full chain of a certificate from a public authority.'
    case 'reset':
      return 'The connection was closed before an answer arrived. Check how the endpoint, or a proxy in front of it, handles a POST with a JSON body.'
    case 'network':
      return 'The address cannot be reached. Check the route from this installation and your firewall.'
    case 'malformed':
      return 'The answer was not valid HTTP. Check that the scheme and port of the url belong to a web server.'
    case 'blocked':
      return 'The address is private, local or reserved, and this installation does not send webhooks there. Use a public address, or ask the operator to allow your network (WEBHOOK_ALLOWED_NETWORKS).'
    case 'unusable-url':
      return 'This installation can no longer send to this url. Change the subscription to an absolute http or https url.'
    case 'proxy':
      return 'The proxy through which this installation sends webhooks made no connection. Your endpoint is not at fault; tell the operator.'
    case 'lapsed':
    default:
      // No check lapses. A newer worker may store an outcome that is not in the type.
      return `The attempt failed with the outcome ${outcome}, which this version of the api cannot explain yet.`
  }
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
