import { UNREACHABLE_REASONS, type UnreachableReason } from '@switchhook/contracts'
import { component } from '../../http/component.ts'

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

export const endpointHealthSchema = component('EndpointHealth', {
  type: 'object',
  description:
    'The state of the endpoint. After 5 transient failures in a row it gets a cool-down of 30 s (both are defaults): deliveries and tests ' +
    '(`…/test`) that fall due wait for their next slot. After the cool-down one attempt decides whether another begins. A receiver check ' +
    '(`…/check`) ignores the cool-down and does not end it. A failing endpoint is never disabled.',
  required: [
    'state',
    'consecutiveFailures',
    'openUntil',
    'lastSuccessAt',
    'lastFailureAt',
    'lastFailureOutcome',
    'lastFailureStatus',
    'failingSince',
  ],
  properties: {
    state: {
      type: 'string',
      enum: ['closed', 'open', 'probing'],
      description:
        '`closed`: deliveries are sent normally. `open`: the endpoint is in a cool-down. `probing`: the cool-down is over, and the next attempt ' +
        'decides whether another begins.',
      examples: ['closed'],
    },
    consecutiveFailures: {
      type: 'integer',
      minimum: 0,
      description: 'The number of transient failures in a row, over all deliveries.',
      examples: [0],
    },
    openUntil: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When the cool-down ends or ended, in UTC; null if `state` is `closed`.',
      examples: [null],
    },
    lastSuccessAt: {
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When the endpoint last acknowledged a delivery, in UTC; null if it acknowledged none in the last 90 days. Updated a few seconds after an attempt.',
      examples: ['2026-11-20T17:06:01.173Z'],
    },
    lastFailureAt: {
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'When an attempt last failed or was answered with a status other than 2xx, in UTC; null if none was in the last 90 days. Updated a few seconds ' +
        'after an attempt.',
      examples: [null],
    },
    lastFailureOutcome: {
      type: ['string', 'null'],
      enum: ['answered', ...UNREACHABLE_REASONS, null],
      description: `The outcome of the attempt at \`lastFailureAt\`; null if \`lastFailureAt\` is null. \`answered\`: see \`lastFailureStatus\`. ${UNREACHABLE_TEXT}`,
      examples: [null],
    },
    lastFailureStatus: {
      type: ['integer', 'null'],
      description: 'The HTTP status of the attempt at `lastFailureAt`; null if there was no answer or no failure.',
      examples: [null],
    },
    failingSince: {
      type: ['string', 'null'],
      format: 'date-time',
      description:
        'The first failure after `lastSuccessAt`, in UTC, to within a few seconds; null if the latest attempt was acknowledged, or none was made.',
      examples: [null],
    },
  },
})
