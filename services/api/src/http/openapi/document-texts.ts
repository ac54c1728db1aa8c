import { DEFAULT_SCHEDULE, MAX_FORMER_SECRETS } from '@switchhook/contracts'

export const DESCRIPTION = `Control calls and agents of a contact center, and receive their events as webhooks.

## Authentication

Send \`Authorization: Bearer <token>\` with every request. Get the token from your identity provider with the OAuth 2.0 client credentials flow (see the security scheme \`bearer\`). A token is valid for about an hour: reuse it, and get a new one after a 401.

## Roles

An installation can give the holders of tokens one of three roles, by a claim of the token: a \`viewer\` reads, an \`operator\` also sends deliveries again, tests endpoints and acts on calls and agents, an \`admin\` also creates, changes and deletes subscriptions and rotates secrets. Each operation names the role that it needs; a caller with a lesser one gets 403 \`forbidden\` with \`requiredRole\`. \`GET /api/v1/me\` tells a caller its roles. Without such a configuration every caller is an \`admin\`.

## Conventions

Requests and answers are JSON with camelCase fields. Times are ISO 8601 in UTC. Unknown request fields are ignored, except in subscriptions, \`recover\`, \`backfill\`, \`deliver\` and \`rotate-secret\`, which reject them and list the allowed ones. A subscription that you have read can be sent back: the fields that only the service sets are ignored. Ignore unknown fields in answers: new ones may appear at any time. Every resource that supports GET also supports HEAD. Answers over 1 KB are compressed if \`Accept-Encoding\` allows \`gzip\`.

**Commands are asynchronous.** A 2xx answer means the command was accepted. The \`call.status\` event reports its result.

**Concurrent changes.** Reading a subscription returns an \`ETag\`. Send it as \`If-Match\` with a change, a deletion or a rotation of the secret: if another client was faster, the answer is 412 \`precondition-failed\`, and nothing is done.

**Idempotency.** Send an \`Idempotency-Key\` with a request that changes or sends something, to repeat it safely: for 24 hours the same request gets the same answer. An operation that does not list the header rejects it with 400, except that a GET ignores it.

## Webhooks in four steps

1. \`POST /api/v1/webhooks/subscriptions\` with your url and event types. The answer holds the \`secret\` that signs your deliveries; no later answer shows it.
2. \`POST …/test\` sends an example to your endpoint. \`POST …/check\` reports what your endpoint should fix.
3. Verify and acknowledge deliveries as described with the callback of \`POST /api/v1/webhooks/subscriptions\`.
4. \`GET …/deliveries\` lists deliveries and their attempts, \`GET /api/v1/webhooks/events/{eventId}\` explains why an event did not arrive, and \`POST …/recover\` sends parked deliveries again after an outage.

## Rate limits

Requests are counted per client. Answers to authenticated requests carry \`RateLimit-Policy\` (requests per window) and \`RateLimit\` (what is left, and the seconds until the window ends), as in draft-ietf-httpapi-ratelimit-headers-11. A request over the limit answers 429 \`rate-limited\` with \`Retry-After\` and has no effect. An installation can turn the limit off. Lists and summaries of one client run one after the other; if more than 50 wait, the next one answers 429 \`rate-limited\`. Answers that need no authentication are not counted: operations without a token, unknown paths (404), unsupported methods (405) and undecodable paths (400).

## Errors

Every error is a \`Problem\` (RFC 9457) with a stable \`code\`; its \`type\` leads to the documentation of the code at \`/api/v1/docs/problems\`. Besides the errors listed with each operation, an unknown path answers 404 \`not-found\`, an unsupported method 405 \`method-not-allowed\`, and an id or a query that is not percent-encoded UTF-8 400 \`invalid-request\`. So does a body with what would be stored otherwise than sent: \`1e400\`, \`1e-400\`, an integer beyond 2^53, or half of a surrogate pair. Two \`Authorization\` headers answer 400 \`invalid-request\`. A request that is not valid HTTP, or arrives too slowly, answers 400, 408 or 431; an \`Expect\` other than \`100-continue\` answers 417. An id in the wrong format is an unknown id: 404.

## This document

It is shown as a page at \`/api/v1/docs\`; the events are at \`/api/v1/docs/events\`, the errors at \`/api/v1/docs/problems\`. None needs a token.`

export const BEARER_DESCRIPTION = `An access token from the tenant's identity provider (OAuth 2.0 client credentials flow). POST \`grant_type=client_credentials\`, \`client_id\`, \`client_secret\` and \`scope\` (\`{service_application_id}/.default\`) as a form to \`{auth_url}/{tenant_id}/oauth2/v2.0/token\`. Ask the operator of your installation for these values. A local stack has its own identity provider for development: \`make up\` prints its address and a command that gets a token. By default the token endpoint is \`http://127.0.0.1:8090/acme/oauth2/v2.0/token\` and the scope \`switchhook/.default\`. A token is valid for about an hour; reuse it until shortly before it expires. After a 401 with \`code\` \`unauthorized\`, get a new token and repeat the request once. A 401 \`missing-agent-uri\` is about the body; a new token does not help. An on-premise installation can admit configured networks without a token.`

export const TAGS = [
  { name: 'subscriptions', description: 'Endpoints and the event types they receive.' },
  {
    name: 'deliveries',
    description:
      'A delivery is one event for one subscription. It is `pending` while an attempt is due and `waiting` until its next attempt, ' +
      'after a failed attempt or a cool-down (by default ' +
      `${DEFAULT_SCHEDULE.attempts} attempts with waits of ${DEFAULT_SCHEDULE.waits}, about ${DEFAULT_SCHEDULE.length}). ` +
      'It ends as `acknowledged` (a 2xx), as `parked` (rejected, or its last attempt failed; kept, and can be sent again) or ' +
      'as `withdrawn` (before the first attempt its subscription was deleted, disabled or unsubscribed from the event type).',
  },
  { name: 'calls', description: 'Call commands on behalf of an agent.' },
  { name: 'agents', description: 'State and presence of agents.' },
  {
    name: 'simulator',
    description:
      'Available only with the simulated contact center. Its agents are configured with `SIMULATOR_AGENTS`; by default they are ' +
      '`sip:alice@acme.example` and `sip:bob@acme.example` of the tenant `acme`, and `sip:carol@globex.example` of `globex`. `dial` lists the destinations.',
  },
  { name: 'audit', description: 'The audit log: which client changed, sent or commanded what.' },
  {
    name: 'me',
    description: 'The caller: its tenant, its roles, the features of this installation, and how people sign in.',
  },
  { name: 'document', description: 'The machine-readable documents of the API and its events.' },
]

/** The contract of a receiver. docs/signatures.md has the details. */
export const DELIVERY_DESCRIPTION = `A POST to the \`url\` of a subscription with the envelope as body. The bytes are identical on every attempt. \`GET /api/v1/webhooks/event-types\` has the schema of each event type.

**Verify** the bytes as they arrived, before parsing them. The easiest way is a library of [Standard Webhooks](https://www.standardwebhooks.com), which takes the \`whsec_…\` secret as it is. Without a library:

1. Decode the part of the secret after \`whsec_\` from Base64. This is the key.
2. Compute HMAC-SHA256 with it over \`{webhook-id}.{webhook-timestamp}.{body}\`, and encode the result in Base64.
3. Compare it, in constant time, with each \`v1,<Base64>\` in \`webhook-signature\`. They are separated by spaces: during a rotation there is one per valid secret, the newest first (at most ${MAX_FORMER_SECRETS} previous ones). One match is enough. Ignore unknown versions.
4. Reject a \`webhook-timestamp\` that is more than five minutes off: it may be a replay.

Answer 401 if verification fails. A subscription whose \`signing.state\` is \`unsigned\` gets these headers after its first rotation.

**Acknowledge** with any 2xx within the timeout (10 s by default), and process the event afterwards. The same delivery can arrive more than once, and deliveries can arrive out of order: deduplicate by \`X-SVC-Delivery\`, never by \`sequence\`. Of two events of one leg or agent, the later \`(occurredAt, sequence)\` is the newer state: compare \`occurredAt\`, and \`sequence\` only if both are equal. This also holds after the operator restores Redis from a backup, when a \`sequence\` can come twice with different content, under two delivery ids.

**Failures.** Connection failures, timeouts, 408, 425, 429 and 5xx are retried, by default after ${DEFAULT_SCHEDULE.waits}: ${DEFAULT_SCHEDULE.attempts} attempts, then the delivery is parked. \`Retry-After\` does not change the waits, but that of a 429 or 503 starts a cool-down of that length, at most 15 minutes. Any other answer parks the delivery immediately. After 5 failures in a row, over all its deliveries, or 5 of its last 10 results that failed after more than a second, an endpoint gets a cool-down: it is not contacted for 30 s, then one attempt decides whether another cool-down begins. A delivery that falls due in a cool-down uses up that slot of the schedule without an attempt and waits for the next one. In its last slot it waits for the cool-down to end; if the endpoint keeps failing for as long as the longest wait of the schedule, the delivery is parked. An installation can have other waits and another cool-down.`
