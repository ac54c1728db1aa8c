export const REQUIRED_DELIVERY_HEADERS = ['X-SVC-Event', 'X-SVC-Event-Id', 'X-SVC-Delivery', 'X-SVC-Attempt'] as const

/** What every delivery says of itself, and the signature of https://www.standardwebhooks.com. */
export const DELIVERY_HEADERS = {
  'X-SVC-Event': { type: 'string', description: 'Event type of the delivery.' },
  'X-SVC-Event-Id': {
    type: 'string',
    format: 'uuid',
    description: 'What all deliveries of the event share; `GET /webhooks/events/{eventId}` tells what became of them.',
  },
  'X-SVC-Delivery': { type: 'string', format: 'uuid', description: 'Identical on every retry.' },
  'X-SVC-Attempt': {
    type: 'integer',
    minimum: 1,
    description: 'One-based attempt counter: 1 is the first delivery, higher is a retry.',
  },
  'X-SVC-Test': {
    type: 'string',
    const: 'true',
    description: 'Only on what was sent on request, as an example: nothing has happened.',
  },
  // Absent where the subscription is of before there were signatures.
  'webhook-id': { type: 'string', format: 'uuid', description: 'Equals `X-SVC-Delivery`.' },
  'webhook-timestamp': {
    type: 'integer',
    description: 'When this attempt was made, in seconds since 1970. Refuse what is more than 5 minutes off.',
  },
  'webhook-signature': {
    type: 'string',
    pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
    description:
      'Standard Webhooks: `v1,` and the Base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`, by the secret of the subscription. After a rotation several, separated by spaces: one that fits is enough.',
  },
} as const
