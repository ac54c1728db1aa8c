import type { CheckedPost, CheckFacts } from '@switchhook/contracts'

export const CHECKS = ['delivery', 'speed', 'duplicate', 'forged-signature', 'stale-timestamp'] as const

/** One thing that receivers have to do, and whether this one does it. */
interface Finding {
  readonly check: (typeof CHECKS)[number]
  /** `skipped`: it could not be found out. */
  readonly result: 'passed' | 'failed' | 'skipped'
  readonly seen: string
  /** What the owner of the endpoint should do; null: nothing. */
  readonly advice: string | null
}

export interface ReceiverReport {
  readonly verdict: 'good' | 'needs-work'
  readonly findings: readonly Finding[]
}

/** Says what was seen of an endpoint, and what its owner should do. No I/O. */
export function judgeReceiver(facts: CheckFacts): ReceiverReport {
  const findings = [judgeDelivery(facts), judgeSpeed(facts), judgeDuplicate(facts), ...judgeRefusals(facts)]
  return { verdict: findings.some(({ result }) => result === 'failed') ? 'needs-work' : 'good', findings }
}

function judgeDelivery({ plain }: CheckFacts): Finding {
  const isGood = plain.outcome === 'delivered'
  return finding('delivery', isGood, plain, isGood ? null : adviceFor(plain))
}

function judgeSpeed({ plain, deadlineMs }: CheckFacts): Finding {
  if (plain.outcome !== 'delivered') return skipped('speed', NOT_DELIVERED)
  const isFast = plain.durationMs <= deadlineMs / 2
  const advice =
    `An attempt that takes longer than ${deadlineMs} ms is given up and made again. Put what you receive into a queue of ` +
    'your own, answer, and work on it afterwards.'
  return finding('speed', isFast, plain, isFast ? null : advice)
}

function judgeDuplicate({ duplicate }: CheckFacts): Finding {
  if (duplicate === undefined) return skipped('duplicate', NOT_DELIVERED)
  const isGood = duplicate.outcome === 'delivered'
  const advice =
    'A delivery can come more than once, with the same X-SVC-Delivery. Acknowledge one that you know with a 2xx and do ' +
    'nothing else, or it will be sent again or parked.'
  return finding('duplicate', isGood, duplicate, isGood ? null : advice)
}

function judgeRefusals({ isSigned, forged, stale }: CheckFacts): Finding[] {
  const judge = (check: Finding['check'], post: CheckedPost | undefined, advice: string): Finding => {
    if (post === undefined) return skipped(check, isSigned ? NOT_DELIVERED : NOT_SIGNED)
    if (post.status !== null && (post.status < 200 || post.status >= 300)) {
      const isFinal = post.status >= 400 && post.status < 500 && !ASKS_FOR_MORE.includes(post.status)
      return finding(check, isFinal, post, isFinal ? null : REFUSE_FOR_GOOD)
    }
    return finding(check, false, post, advice)
  }
  return [
    judge(
      'forged-signature',
      forged,
      'Anybody who knows the url can send you this. Verify webhook-signature before you believe a body, and answer 401 ' +
        'where it does not match.',
    ),
    judge(
      'stale-timestamp',
      stale,
      'Anybody who has seen a delivery can send it to you again later. Refuse a webhook-timestamp that is more than five ' +
        'minutes off with a 4xx.',
    ),
  ]
}

/** Answers that ask for another attempt (specification, "Receiver obligations and semantics", 2). */
const ASKS_FOR_MORE: readonly number[] = [408, 425, 429]

const REFUSE_FOR_GOOD =
  'It is refused, but not in a way that ends it: answer 401. After a 5xx, 408, 425 or 429 a delivery is tried again for half a day, and a ' +
  'redirect hides that its signature was the reason.'

const NOT_DELIVERED = 'Nothing: the first delivery was not acknowledged.'
const NOT_SIGNED = 'Nothing: deliveries to this subscription are not signed.'

const skipped = (check: Finding['check'], seen: string): Finding => ({ check, result: 'skipped', seen, advice: null })

const finding = (check: Finding['check'], isGood: boolean, post: CheckedPost, advice: string | null): Finding => ({
  check,
  result: isGood ? 'passed' : 'failed',
  seen: `${post.status === null ? `No answer (${post.outcome})` : `Status ${post.status}`} after ${Math.round(post.durationMs)} ms.`,
  advice,
})

/** One sentence or two for each way in which a delivery is not acknowledged. */
function adviceFor({ outcome, status }: CheckedPost): string {
  switch (outcome) {
    case 'delivered':
    case 'answered':
      return adviceForStatus(status ?? 0)
    case 'timeout':
      return 'Answer before the work is done: put what you receive into a queue of your own, and answer with a 2xx at once. If nothing reaches you, see whether a firewall drops it.'
    case 'dns':
      return 'The name in the url has no address in the public DNS, as this installation sees it. See whether it is spelled right and published.'
    case 'refused':
      return 'Nothing listens at that address and port. Start the endpoint, or correct the port of the url.'
    case 'tls':
      return 'The certificate is not trusted, has expired, is for another name, or its chain is incomplete; or that port speaks no TLS at all. Serve the whole chain of a certificate of a public authority.'
    case 'reset':
      return 'The connection was closed before an answer came. See what the endpoint, or a proxy before it, does with a POST of JSON.'
    case 'network':
      return 'The address could not be reached. See whether it is routed from this installation, and open in your firewall.'
    case 'malformed':
      return 'What came back was not HTTP. See whether the scheme and the port of the url belong to a web server.'
    case 'blocked':
      return 'The address is private, local or reserved, and webhooks are not sent there. Use a public address, or ask the operator to allow your network (WEBHOOK_ALLOWED_NETWORKS).'
    case 'unusable-url':
      return 'This installation cannot send to such a url any more. Change the subscription to an absolute http or https url.'
    default:
      // A worker that is newer than this api may store an outcome that is not in the type.
      return `The attempt failed with the outcome ${String(outcome)}, which this version of the api cannot explain yet.`
  }
}

function adviceForStatus(status: number): string {
  if (status >= 300 && status < 400) {
    return 'Redirects are never followed, and park a delivery. Change the subscription to the url that the redirect leads to in the end.'
  }
  if (status === 401 || status === 403) {
    return (
      'The endpoint, or a proxy before it, asks for a login that webhooks do not have: let the path through without one, and verify the signature instead. Or it does verify, with ' +
      'another secret than the one that this subscription was given last.'
    )
  }
  if (status === 404 || status === 410) return 'There is nothing at this path. Correct the url of the subscription.'
  if (status === 405) return 'The path does not take a POST. Correct the url, or let it take one.'
  if (status === 408 || status === 425 || status === 429) {
    return 'The endpoint asks to be called later. Deliveries are retried on a schedule; let it take them at the pace of your events.'
  }
  if (status >= 500) {
    return 'The endpoint failed at an ordinary delivery, which is retried on a schedule and then parked. Its log of this moment tells why.'
  }
  return 'The endpoint refuses an ordinary delivery, which parks it. Answer with any 2xx once you have it, even where you have no use for it.'
}
