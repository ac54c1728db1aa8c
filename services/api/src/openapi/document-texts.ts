export const DESCRIPTION = `Call control, agent state, presence and webhook subscriptions of a contact center.

Times are ISO 8601 in UTC. Members that a request carries and that are not described are ignored (but \`recover\` and \`rotate-secret\` refuse them); clients likewise ignore members of an answer that they do not know. A command that is answered 2xx was accepted; what came of it is told by the \`call.status\` event.

**Webhooks, from nothing to a verified delivery.** \`POST /api/v1/webhooks/subscriptions\` names a url and event types; its answer holds, this once, the \`secret\` that deliveries are signed with. \`POST …/test\` sends an example there, \`POST …/check\` tells what the endpoint does wrong. What a delivery looks like, how to verify it and what to answer stands under Webhooks, at the end of this document. \`GET …/deliveries\` lists what became of deliveries, \`GET /api/v1/webhooks/events/{eventId}\` tells why one did not come, and \`POST …/recover\` sends again what was parked during an outage.

Requests are counted for each client. Every answer to a client that was let in by its token tells of it, errors included, unless the installation has no limit: \`RateLimit-Policy\` (requests per window of seconds) and \`RateLimit\` (what is left, and the seconds until the window ends), by draft-ietf-httpapi-ratelimit-headers-11. One request too many is answered 429 \`rate-limited\` with \`Retry-After\`, and nothing is carried out.

Every error is a \`Problem\`. Beside those listed with an operation: an unknown path is answered 404 \`not-found\`, a method that the resource does not know 405 \`method-not-allowed\`, a path that is not UTF-8 400 \`invalid-request\`, and what is not HTTP, or arrives too slowly, 400, 408 or 431. An id of the wrong form is an unknown one: 404.`

export const TAGS = [
  { name: 'subscriptions', description: 'Who receives which events.' },
  {
    name: 'deliveries',
    description:
      'What became of the deliveries. A delivery is one event on its way to one subscription. It is `pending` until its first attempt is ' +
      'over, `waiting` between a failed attempt and the next one of the schedule (8 attempts over about 12 h 36 min, unless configured ' +
      'otherwise), and ends as `acknowledged` (a 2xx), as `parked` (refused with another status that is not retried, or failed to the ' +
      'last attempt; kept, and can be sent again) or as `withdrawn` (its subscription was deleted or disabled before the first attempt).',
  },
  { name: 'calls', description: 'Commands to calls, on behalf of an agent.' },
  { name: 'agents', description: 'State and presence of agents.' },
  { name: 'simulator', description: 'Only where the simulator is the contact center.' },
  { name: 'audit', description: 'Who did what.' },
  { name: 'document', description: 'This document.' },
]

/** For receivers; docs/signatures.md says the same at length. */
export const DELIVERY_DESCRIPTION = `Sent to the \`url\` of a subscription, with the envelope as body. The bytes are the same on every attempt. \`GET /api/v1/webhooks/event-types\` has the schema of each event type.

**Verify** before you believe a body, over its bytes as they arrived and before anything parses them. The easiest is a library of [Standard Webhooks](https://www.standardwebhooks.com), which takes the \`whsec_…\` secret as it is. By hand:

1. The key is what follows \`whsec_\` in the secret, decoded from Base64.
2. Make HMAC-SHA256 with it over \`{webhook-id}.{webhook-timestamp}.{body}\`, and encode that in Base64.
3. \`webhook-signature\` holds one or more of \`v1,<Base64>\`, separated by spaces: after a rotation one for each secret that is valid. One that equals yours, compared in constant time, is enough. Ignore versions that you do not know.
4. Refuse a \`webhook-timestamp\` that is more than five minutes off: somebody may have recorded the delivery.

Answer 401 to what does not pass. A subscription whose \`signing.state\` is \`unsigned\` gets no such headers until its secret is rotated.

**Answer** within the timeout (10 s unless configured otherwise) with any 2xx, and work on it afterwards. The same delivery can come more than once, and deliveries can overtake each other: know duplicates by \`X-SVC-Delivery\`, and order by \`occurredAt\`.`
