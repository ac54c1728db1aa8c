import { DELIVERY_HEADERS, describeEventTypes, REQUIRED_DELIVERY_HEADERS } from '@switchhook/contracts'
import { type Components, describedBy } from '../../http/openapi/components.ts'
import { DELIVERY_DESCRIPTION } from '../../http/openapi/document-texts.ts'
import type { Schema } from '../../http/schema.ts'
import { webhookDeliverySchema } from './event-schemas.ts'

const REQUIRED: readonly string[] = REQUIRED_DELIVERY_HEADERS

const RETRIED = {
  description: 'Retried on the schedule, like a connection failure. Parked if the last attempt fails.',
} as const

/** The request that a subscriber's endpoint receives: the only operation that clients implement. */
export const deliveryWebhook = (components: Components): Schema => ({
  operationId: 'receiveDelivery',
  summary: 'A delivery, as your endpoint receives it',
  description: DELIVERY_DESCRIPTION,
  // Deliveries are authenticated by their signature, not by a token.
  security: [],
  parameters: Object.entries(DELIVERY_HEADERS).map(([name, schema]) => {
    return { name, in: 'header', required: REQUIRED.includes(name), ...describedBy(schema) }
  }),
  requestBody: {
    required: true,
    content: {
      'application/json; charset=utf-8': {
        schema: components.schema(webhookDeliverySchema),
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
    '2XX': { description: 'Acknowledged. The response body is ignored.' },
    '3XX': { description: 'Parked immediately. Redirects are never followed.' },
    408: RETRIED,
    425: RETRIED,
    429: RETRIED,
    '4XX': { description: 'Any other 4xx: parked immediately. You can send the delivery again.' },
    '5XX': RETRIED,
  },
})
