import { guid, integer, text } from '../events/schema-parts.ts'

export const REQUIRED_DELIVERY_HEADERS = ['X-SVC-Event', 'X-SVC-Event-Id', 'X-SVC-Delivery', 'X-SVC-Attempt'] as const

const mark = (description: string) => ({ type: 'string', enum: ['true'], description }) as const

/** HTTP headers of every delivery; the signature follows https://www.standardwebhooks.com. */
export const DELIVERY_HEADERS = {
  'X-SVC-Event': text('Event type of the delivery.'),
  'X-SVC-Event-Id': guid('Id of the event, shared by all its deliveries. See `GET /webhooks/events/{eventId}`.'),
  'X-SVC-Delivery': guid('Id of the delivery, identical on every retry.'),
  'X-SVC-Attempt': integer('Attempt counter: 1 is the first attempt, higher values are retries.', { minimum: 1 }),
  'X-SVC-Sparse': mark(
    'Present if the filter of the subscription can pass some events of a call or agent and not others: `sequence` then has gaps, and none is a loss.',
  ),
  'X-SVC-Test': mark('Present only on test deliveries and receiver checks: no event occurred.'),
  // Absent for subscriptions created before signatures existed, until their secret is rotated.
  'webhook-id': guid('Same as `X-SVC-Delivery`.'),
  'webhook-timestamp': integer(
    'Time of this attempt in seconds since 1970. Reject a request that is more than 5 minutes off.',
  ),
  'webhook-signature': {
    type: 'string',
    pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$',
    description:
      'Standard Webhooks signature: `v1,` followed by the Base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}` with the secret of the subscription. After a rotation there are several, separated by spaces; accept the request if one matches.',
  },
} as const
