import { type RouteOf, searches } from '../../http/route.ts'
import { choice, completeComponent, count, integer, list, moment, orNull, text } from '../../http/schema.ts'
import { OUTCOMES, parkedReasonSchema } from '../deliveries/delivery-schema.ts'
import type { WebhookParts } from '../stores.ts'
import { subscriptionIdSchema } from '../subscriptions/subscription-schema.ts'

const parkedCausesSchema = completeComponent(
  'ParkedCauses',
  'The parked deliveries of the tenant, grouped by their cause.',
  {
    asOf: moment('When the deliveries were counted, in UTC.'),
    items: list(
      'The groups, the largest first.',
      completeComponent('ParkedCause', 'The parked deliveries of one subscription with the same cause.', {
        subscriptionId: subscriptionIdSchema,
        url: text(
          'The endpoint to which the latest of these deliveries was sent; empty if none of them was read.',
          'https://client.example/hooks/calls',
        ),
        parkedReason: {
          ...parkedReasonSchema,
          description: `${parkedReasonSchema.description} null: a group of older deliveries that were not read.`,
        },
        outcome: orNull(choice(OUTCOMES, 'The outcome of the latest attempt; null if there was none.', 'answered')),
        status: orNull(integer('The HTTP status of the latest attempt; null if there was no answer.', 401)),
        count: count('The number of these deliveries.', 1204, 1),
        since: moment('When the first of these deliveries was parked, in UTC.'),
        latest: moment('When the latest of these deliveries was parked, in UTC.'),
      }),
      { maxItems: 1_000 },
    ),
  },
)

export const listParkedCauses: RouteOf<Pick<WebhookParts, 'parked' | 'now'>> = {
  ...searches('deliveries'),
  path: '/api/v1/webhooks/parked',
  operationId: 'listParkedCauses',
  summary: 'List parked deliveries by cause',
  description:
    'Groups the parked deliveries of all subscriptions by subscription, reason, outcome and status. One answer looks at 5,000 deliveries, shared fairly ' +
    'among the 1000 subscriptions that parked a delivery last, the latest deliveries of each first. The older ones of a subscription are ' +
    'one more group, with `parkedReason` null. `GET /webhooks/deliveries?state=parked` lists the deliveries of a group.',
  responses: { 200: { description: 'The groups.', body: parkedCausesSchema } },
  async handle({ caller }, { parked, now }) {
    const items = await parked.causes(caller.tenant)
    return { status: 200, body: { asOf: new Date(now()).toISOString(), items } }
  },
}
