import { AppError, EVENT_TYPES, type FailureCode, type Fault, settableNames } from '@switchhook/contracts'
import { newSubscriptionSchema } from './subscription-schema.ts'
import { type WebhookUrlRules, webhookUrlFault } from './webhook-url.ts'

/**
 * Checks the body of a create or a change: the schema's faults, and the url rules that a schema cannot express. The error
 * lists every fault. A faulty url decides its code, then faulty event types (specification, "Webhook subscriptions"). The
 * error lists the known event types for both, and for a body that is not an object.
 */
export function validateSubscription(
  body: unknown,
  schemaFaults: readonly Fault[],
  rules: WebhookUrlRules,
): AppError | undefined {
  const { url } = (body ?? {}) as { readonly url?: unknown }
  // The rules say more than the schema's pattern.
  const errors =
    typeof url === 'string'
      ? [...schemaFaults.filter(({ pointer }) => pointer !== '/url'), ...urlFaults(url, rules)]
      : [...schemaFaults]
  if (errors.length === 0) return undefined
  const detail = `The body is not a valid subscription. Allowed fields: ${settableNames(newSubscriptionSchema).join(', ')}.`
  const code = codeOf(errors)
  const listsEventTypes = code !== 'invalid-request' || errors.some(({ pointer }) => pointer === '')
  return new AppError(code, { detail, errors, ...(listsEventTypes && { knownEventTypes: EVENT_TYPES }) })
}

function urlFaults(url: string, rules: WebhookUrlRules): Fault[] {
  const detail = webhookUrlFault(url, rules)
  return detail === undefined ? [] : [{ pointer: '/url', detail }]
}

function codeOf(faults: readonly Fault[]): FailureCode {
  if (faults.some(({ pointer }) => pointer === '/url')) return 'invalid-webhook-url'
  if (faults.some(({ pointer }) => /^\/eventTypes(\/|$)/.test(pointer))) return 'unknown-event-type'
  return 'invalid-request'
}
