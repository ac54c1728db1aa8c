import { UNREACHABLE_REASONS, type UnreachableReason } from '@switchhook/contracts'
import { choice, completeComponent, count, integer, momentOrNull, orNull } from '../../http/schema.ts'
import { momentOf } from '../moment.ts'
import type { Health } from '../stores.ts'

/** A short explanation of each outcome without an answer. A receiver check gives longer advice. */
const REASONS: Readonly<Record<UnreachableReason, string>> = {
  timeout: 'no answer before the timeout',
  dns: 'the host name does not resolve',
  refused: 'the connection was refused',
  tls: 'the TLS handshake failed or the certificate is invalid',
  reset: 'the connection was closed before an answer',
  network: 'the address cannot be reached',
  malformed: 'the answer was not valid HTTP',
  blocked: 'the address is private or reserved, and the installation does not allow it',
  'unusable-url': 'the url cannot be requested',
  lapsed: 'the client that received the delivery reported no outcome before its lease ended',
  proxy: 'the proxy of the installation made no connection; the endpoint is not at fault',
}

export const UNREACHABLE_TEXT = `Without an answer: ${Object.entries(REASONS)
  .map(([reason, text]) => `\`${reason}\` (${text})`)
  .join(', ')}.`

export const endpointHealthSchema = completeComponent(
  'EndpointHealth',
  'The state of the endpoint. After 5 transient failures in a row, or 5 of its last 10 results that failed after more than a second, it ' +
    'gets a cool-down of 30 s (these are defaults): deliveries and tests (`…/test`) that fall due wait for their next slot. After the ' +
    'cool-down one attempt decides whether another begins. A receiver check (`…/check`) ignores the cool-down and does not end it. A ' +
    'failing endpoint is never disabled.',
  {
    state: choice(
      ['closed', 'open', 'probing'],
      '`closed`: deliveries are sent normally. `open`: the endpoint is in a cool-down. `probing`: the cool-down is over, and the next attempt ' +
        'decides whether another begins.',
      'closed',
    ),
    consecutiveFailures: count('The number of transient failures in a row, over all deliveries.', 0),
    openUntil: momentOrNull('When the cool-down ends or ended, in UTC; null if `state` is `closed`.', null),
    lastSuccessAt: momentOrNull(
      'When the endpoint last acknowledged a delivery, in UTC; null if it acknowledged none in the last 90 days. Updated a few seconds after an attempt.',
    ),
    lastFailureAt: momentOrNull(
      'When an attempt last failed or was answered with a status other than 2xx, in UTC; null if none was in the last 90 days. Updated a few seconds ' +
        'after an attempt.',
      null,
    ),
    lastFailureOutcome: orNull(
      choice(
        ['answered', ...UNREACHABLE_REASONS],
        `The outcome of the attempt at \`lastFailureAt\`; null if \`lastFailureAt\` is null. \`answered\`: see \`lastFailureStatus\`. ${UNREACHABLE_TEXT}`,
        null,
      ),
    ),
    lastFailureStatus: orNull(
      integer('The HTTP status of the attempt at `lastFailureAt`; null if there was no answer or no failure.', null),
    ),
    failingSince: momentOrNull(
      'The first failure after `lastSuccessAt`, in UTC, to within a few seconds; null if the latest attempt was acknowledged, or none was made.',
      null,
    ),
  },
)

/** A new endpoint: no delivery was sent yet. */
export const HEALTHY: Health = {
  state: 'closed',
  consecutiveFailures: 0,
  openUntilMs: null,
  recentHangs: 0,
  successAtMs: null,
  failureAtMs: null,
  failure: null,
  failingSinceMs: null,
}

export const healthViewOf = (health: Health) => ({
  state: health.state,
  consecutiveFailures: health.consecutiveFailures,
  openUntil: momentOf(health.openUntilMs),
  lastSuccessAt: momentOf(health.successAtMs),
  lastFailureAt: momentOf(health.failureAtMs),
  lastFailureOutcome: health.failure?.outcome ?? null,
  lastFailureStatus: health.failure?.status ?? null,
  failingSince: momentOf(health.failingSinceMs),
})
