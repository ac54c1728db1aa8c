import { EVENT_TYPES } from '@switchhook/contracts'
import { choice, completeComponent, component, list, orNull, text } from '../../http/schema.ts'
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

export const testDeliverySchema = completeComponent('TestDelivery', 'A test delivery that is due now.', {
  deliveryId: deliveryIdSchema,
  eventId: eventIdSchema,
  eventType: { ...eventType, description: 'The event type, sent as `X-SVC-Event`.' },
})

export const receiverReportSchema = completeComponent('ReceiverReport', 'The findings of a check, with advice.', {
  verdict: choice(['good', 'needs-work'], '`needs-work`: at least one check failed.', 'good'),
  findings: list(
    'One finding per check.',
    completeComponent('ReceiverFinding', 'The result of one check.', {
      check: choice(
        CHECKS,
        '`delivery`: the endpoint acknowledges a delivery. `speed`: within half of the timeout. `duplicate`: it acknowledges the same delivery ' +
          'again. `forged-signature`: it rejects a wrong signature with a 4xx. `stale-timestamp`: it rejects an old timestamp with a 4xx.',
        'delivery',
      ),
      result: choice(['passed', 'failed', 'skipped'], '`skipped`: the check could not run.', 'passed'),
      seen: text('The observed answer. For people; the wording may change.', 'Status 204 after 31 ms.'),
      advice: orNull(text('What to fix; null if there is nothing to fix. For people; the wording may change.', null)),
    }),
  ),
})
