import { describeEventTypes, EVENT_TYPES } from '@switchhook/contracts'
import { component } from '../http/component.ts'
import type { Route } from '../http/route.ts'

const catalogueSchema = component('EventTypes', {
  type: 'object',
  description: 'What can be subscribed to.',
  required: ['items'],
  properties: {
    items: {
      type: 'array',
      description: 'The event types.',
      items: component('EventTypeDescription', {
        type: 'object',
        description: 'An event type, and what arrives when it is subscribed to.',
        required: ['type', 'description', 'schema', 'example'],
        properties: {
          type: { type: 'string', enum: EVENT_TYPES, description: 'The name to subscribe to.' },
          description: { type: 'string', description: 'What it tells.', examples: ["A call's state has changed."] },
          schema: { type: 'object', description: 'JSON Schema 2020-12 of the body of a delivery, whole.' },
          example: { type: 'object', description: 'A body of a delivery.' },
        },
      }),
    },
  },
})

/** What there is to subscribe to, from the same table as the AsyncAPI document. */
export function createEventTypeRoutes(): Route[] {
  const catalogue = { items: describeEventTypes() }
  const list: Route = {
    method: 'get',
    path: '/api/v1/webhooks/event-types',
    operationId: 'listEventTypes',
    tag: 'subscriptions',
    summary: 'List the event types, with schemas and examples',
    responses: { 200: { description: 'All of them.', body: catalogueSchema } },
    failures: [],
    handle: async () => ({ status: 200, body: catalogue }),
  }
  return [list]
}
