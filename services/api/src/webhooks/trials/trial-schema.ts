import { EVENT_TYPES } from '@switchhook/contracts'
import { component } from '../../http/component.ts'
import { deliveryIdSchema, eventIdSchema } from '../deliveries/delivery-schema.ts'
import { CHECKS } from './receiver-report.ts'

const eventType = { type: 'string', enum: EVENT_TYPES, examples: ['call.status'] } as const

export const trialSchema = component('Trial', {
  type: 'object',
  description: 'Options of a test or check. Unknown fields are ignored; the body can be `{}` or missing.',
  properties: {
    eventType: {
      ...eventType,
      description: 'The event type of the example. Defaults to the first event type of the subscription.',
    },
  },
  examples: [{ eventType: 'call.status' }, {}],
})

export const testDeliverySchema = component('TestDelivery', {
  type: 'object',
  description: 'A test delivery that is due now.',
  required: ['deliveryId', 'eventId', 'eventType'],
  properties: {
    deliveryId: deliveryIdSchema,
    eventId: eventIdSchema,
    eventType: { ...eventType, description: 'The event type, sent as `X-SVC-Event`.' },
  },
})

export const receiverReportSchema = component('ReceiverReport', {
  type: 'object',
  description: 'The findings of a check, with advice.',
  required: ['verdict', 'findings'],
  properties: {
    verdict: {
      type: 'string',
      enum: ['good', 'needs-work'],
      description: '`needs-work`: at least one check failed.',
      examples: ['good'],
    },
    findings: {
      type: 'array',
      description: 'One finding per check.',
      items: component('ReceiverFinding', {
        type: 'object',
        description: 'The result of one check.',
        required: ['check', 'result', 'seen', 'advice'],
        properties: {
          check: {
            type: 'string',
            enum: CHECKS,
            description:
              '`delivery`: the endpoint acknowledges a delivery. `speed`: within half of the timeout. `duplicate`: it acknowledges the same delivery ' +
              'again. `forged-signature`: it rejects a wrong signature with a 4xx. `stale-timestamp`: it rejects an old timestamp with a 4xx.',
            examples: ['delivery'],
          },
          result: {
            type: 'string',
            enum: ['passed', 'failed', 'skipped'],
            description: '`skipped`: the check could not run.',
            examples: ['passed'],
          },
          seen: {
            type: 'string',
            description: 'The observed answer. For people; the wording may change.',
            examples: ['Status 204 after 31 ms.'],
          },
          advice: {
            type: ['string', 'null'],
            description: 'What to fix; null if there is nothing to fix. For people; the wording may change.',
            examples: [null],
          },
        },
      }),
    },
  },
})
