import { describeEventTypes, EVENT_TYPES } from '@switchhook/contracts'
import { type RouteOf, reads } from '../../http/route.ts'
import { completeComponent, list, text } from '../../http/schema.ts'

const catalogueSchema = completeComponent('EventTypes', 'The event types that you can subscribe to.', {
  items: list(
    'The event types.',
    completeComponent('EventTypeDescription', 'An event type, with the schema and an example of its deliveries.', {
      type: { type: 'string', enum: EVENT_TYPES, description: 'The name of the event type.' },
      description: text('What the event reports.', "A call's state has changed."),
      schema: { type: 'object', description: 'The JSON Schema (2020-12) of the whole delivery body.' },
      example: { type: 'object', description: 'An example of a delivery body.' },
    }),
  ),
})

/** From the same table as the AsyncAPI document. */
const CATALOGUE = { items: describeEventTypes() }

export const listEventTypes: RouteOf<unknown> = {
  ...reads('subscriptions'),
  path: '/api/v1/webhooks/event-types',
  operationId: 'listEventTypes',
  summary: 'List event types',
  description:
    'Lists all event types that you can subscribe to, each with the JSON Schema and an example of its deliveries.',
  responses: { 200: { description: 'All event types.', body: catalogueSchema } },
  handle: async () => ({ status: 200, body: CATALOGUE }),
}
