import { DELIVERY_HEADERS, describeEventTypes, REQUIRED_DELIVERY_HEADERS } from '@switchhook/contracts'
import { envelopeSchema } from '../deliveries/delivery-schema.ts'
import type { Schema } from '../http/route.ts'
import type { Components } from './components.ts'
import { DELIVERY_DESCRIPTION } from './document-texts.ts'
import { describedBy } from './json-content.ts'

const REQUIRED: readonly string[] = REQUIRED_DELIVERY_HEADERS

const RETRIED = {
  description: 'Tried again on the schedule, as after no answer; parked when the last attempt fails.',
} as const

/** What clients' own endpoints have to take: the one operation that is theirs. */
export const deliveryWebhook = (components: Components): Schema => ({
  operationId: 'receiveDelivery',
  summary: 'A delivery, as your endpoint receives it',
  description: DELIVERY_DESCRIPTION,
  // The token is for this service; deliveries carry signatures.
  security: [],
  parameters: Object.entries(DELIVERY_HEADERS).map(([name, schema]) => {
    return { name, in: 'header', required: REQUIRED.includes(name), ...describedBy(schema) }
  }),
  requestBody: {
    required: true,
    content: {
      'application/json; charset=utf-8': {
        schema: components.schema(envelopeSchema),
        examples: Object.fromEntries(
          describeEventTypes().map(({ type, description, example }) => [
            type,
            { summary: description, value: example },
          ]),
        ),
      },
    },
  },
  responses: {
    '2XX': { description: 'Acknowledged. The body of the answer is ignored.' },
    '3XX': { description: 'Parked at once: redirects are never followed.' },
    408: RETRIED,
    425: RETRIED,
    429: RETRIED,
    '4XX': { description: 'Parked at once: any other 4xx. It can be sent again.' },
    '5XX': RETRIED,
  },
})
