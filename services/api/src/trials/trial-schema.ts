import { EVENT_TYPES } from '@switchhook/contracts'
import { deliveryIdSchema } from '../deliveries/delivery-schema.ts'
import { component } from '../http/component.ts'
import { CHECKS } from './receiver-report.ts'

const eventType = { type: 'string', enum: EVENT_TYPES, examples: ['call.status'] } as const

export const trialSchema = component('Trial', {
  type: 'object',
  description: 'Members that are not named here are ignored; `{}` will do.',
  properties: {
    eventType: {
      ...eventType,
      description: 'Of the example that is sent; left out: the first one that the subscription names.',
    },
  },
  examples: [{ eventType: 'call.status' }, {}],
})

export const testDeliverySchema = component('TestDelivery', {
  type: 'object',
  description: 'An example on its way.',
  required: ['deliveryId', 'eventId', 'eventType'],
  properties: {
    deliveryId: deliveryIdSchema,
    eventId: { ...deliveryIdSchema, description: 'The id of the event that it would tell of.' },
    eventType: { ...eventType, description: 'The value of `X-SVC-Event`.' },
  },
})

export const receiverReportSchema = component('ReceiverReport', {
  type: 'object',
  description: 'What was seen of an endpoint, and what its owner should do.',
  required: ['verdict', 'findings'],
  properties: {
    verdict: {
      type: 'string',
      enum: ['good', 'needs-work'],
      description: '`needs-work`: at least one check has failed.',
      examples: ['good'],
    },
    findings: {
      type: 'array',
      description: 'One for each check.',
      items: component('ReceiverFinding', {
        type: 'object',
        description: 'One thing that receivers have to do.',
        required: ['check', 'result', 'seen', 'advice'],
        properties: {
          check: {
            type: 'string',
            enum: CHECKS,
            description:
              '`delivery`: acknowledges a delivery. `speed`: within half of the deadline. `duplicate`: acknowledges the same one ' +
              'again. `forged-signature`, `stale-timestamp`: refuses them.',
            examples: ['delivery'],
          },
          result: {
            type: 'string',
            enum: ['passed', 'failed', 'skipped'],
            description: '`skipped`: it could not be found out.',
            examples: ['passed'],
          },
          seen: { type: 'string', description: 'What was seen, for people.', examples: ['Status 204 after 31 ms.'] },
          advice: { type: ['string', 'null'], description: 'What to do; null: nothing.', examples: [null] },
        },
      }),
    },
  },
})
