import { MOST_FORMER_SECRETS } from '@switchhook/contracts'

export const DESCRIPTION = `Call control, agent state, presence and webhook subscriptions of a contact center.

Times are ISO 8601 in UTC. Members that a request carries and that are not described are ignored (but \`recover\` and \`rotate-secret\` refuse them); clients likewise ignore members of an answer that they do not know. A command that is answered 2xx was accepted; what came of it is told by the \`call.status\` event.

**Webhooks, from nothing to a verified delivery.** \`POST /api/v1/webhooks/subscriptions\` names a url and event types; its answer holds the \`secret\` that deliveries are signed with, which no other answer shows. \`POST …/test\` sends an example there, \`POST …/check\` tells what the endpoint does wrong. What a delivery looks like, how to verify it and what to answer stands under Webhooks, at the end of this document. \`GET …/deliveries\` lists what became of deliveries, \`GET /api/v1/webhooks/events/{eventId}\` tells why one did not come, and \`POST …/recover\` sends again what was parked during an outage.

**To read and to try.** This document can be read as a page at \`/api/v1/docs\`, and that of the events at \`/api/v1/docs/events\`; neither needs a token. How to get one stands under \`bearer\`, at the security schemes. Whatever answers GET answers HEAD too, without the body.

Requests are counted for each client. Every answer of the operations below to a client that was let in by its token tells of it, errors included, unless the installation has no limit: \`RateLimit-Policy\` (requests per window of seconds) and \`RateLimit\` (what is left, and the seconds until the window ends), by draft-ietf-httpapi-ratelimit-headers-11. One request too many is answered 429 \`rate-limited\` with \`Retry-After\`, and nothing is carried out. What is answered before a token is looked at is not counted and tells nothing: an operation that needs no token, an unknown path (404), a method that the resource does not know (405), and a path that cannot be decoded (400).

Every error is a \`Problem\`. Beside those listed with an operation: an unknown path is answered 404 \`not-found\`, a method that the resource does not know 405 \`method-not-allowed\`, a path of an operation whose id is not percent-encoded UTF-8 (\`/api/v1/webhooks/subscriptions/%ff\`) 400 \`invalid-request\` (elsewhere, as at \`/api/v1/%ff\`, such a path is an unknown one), and what is not HTTP, or arrives too slowly, 400, 408 or 431. An id of the wrong form is an unknown one: 404.`

export const TAGS = [
  { name: 'subscriptions', description: 'Who receives which events.' },
  {
    name: 'deliveries',
    description:
      'What became of the deliveries. A delivery is one event on its way to one subscription. It is `pending` while it is due, ' +
      '`waiting` while its next attempt is scheduled, after one that failed or after a turn that a cool-down has put off (8 attempts with waits of ' +
      '10 s, 1 min, 5 min, 30 min, 2 h, 4 h and 6 h between them, about 12 h 36 min, unless configured otherwise), and ends as ' +
      '`acknowledged` (a 2xx), as `parked` (refused with another status that is not retried, or failed to the ' +
      'last attempt; kept, and can be sent again) or as `withdrawn` (before the first attempt its subscription was deleted, disabled or stopped asking for the event type).',
  },
  { name: 'calls', description: 'Commands to calls, on behalf of an agent.' },
  { name: 'agents', description: 'State and presence of agents.' },
  {
    name: 'simulator',
    description:
      'Only where the simulator is the contact center. Its agents are what the installation has configured (`SIMULATOR_AGENTS`), else ' +
      '`sip:alice@acme.example` and `sip:bob@acme.example` of the tenant `acme`, and `sip:carol@globex.example` of `globex`. `dial` says whom they can call.',
  },
  { name: 'audit', description: 'Who did what.' },
  { name: 'document', description: 'This document.' },
]

/** For receivers; docs/signatures.md says the same at length. */
export const DELIVERY_DESCRIPTION = `Sent to the \`url\` of a subscription, with the envelope as body. The bytes are the same on every attempt. \`GET /api/v1/webhooks/event-types\` has the schema of each event type.

**Verify** before you believe a body, over its bytes as they arrived and before anything parses them. The easiest is a library of [Standard Webhooks](https://www.standardwebhooks.com), which takes the \`whsec_…\` secret as it is. By hand:

1. The key is what follows \`whsec_\` in the secret, decoded from Base64.
2. Make HMAC-SHA256 with it over \`{webhook-id}.{webhook-timestamp}.{body}\`, and encode that in Base64.
3. \`webhook-signature\` holds one or more of \`v1,<Base64>\`, separated by spaces: after a rotation one for each secret that is valid, the newest first (at most ${MOST_FORMER_SECRETS} former ones beside the present). One that equals yours, compared in constant time, is enough. Ignore versions that you do not know.
4. Refuse a \`webhook-timestamp\` that is more than five minutes off: somebody may have recorded the delivery.

Answer 401 to what does not pass. A subscription whose \`signing.state\` is \`unsigned\` gets no such headers until its secret is rotated.

**Answer** within the timeout (10 s unless configured otherwise) with any 2xx, and work on it afterwards. The same delivery can come more than once, and deliveries can overtake each other: know duplicates by \`X-SVC-Delivery\`, and order by \`occurredAt\`.

**What follows a failure.** No connection, no answer in time, 408, 425, 429 and 5xx are tried again, by default after 10 s, 1 min, 5 min, 30 min, 2 h, 4 h and 6 h: eight attempts, then the delivery is parked. A \`Retry-After\` of yours does not change the waits. An endpoint that fails 5 times in a row (over all its deliveries) is in its cool-down: it is not contacted for 30 s, then one attempt decides, and a failure begins the next cool-down. A delivery that falls due meanwhile is not sent: it uses up that place in the schedule, without an attempt, and waits for the next one; at its last place it waits the cool-down out. An installation can have other waits and another cool-down.`
